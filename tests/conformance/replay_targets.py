"""Each wrong saver, and the right one in its place, as a target that any process can load.

``wrong_NAME`` and ``right_NAME`` are attributes of this module, with underscores in the name.
"""

from __future__ import annotations

from tests.conformance.reproducer_support import RIGHT, open_saver, wrong_saver

from saverproof import target
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.target import Target


def ref_to(name: str, *, right: bool = False) -> TargetRef:
    """Where the target of a wrong saver is, or of the right one in its place."""
    attribute = f"{'right' if right else 'wrong'}_{name.replace('-', '_')}"
    return TargetRef(name, __name__, None, attribute)


def __getattr__(attribute: str) -> Target:
    kind, _, rest = attribute.partition("_")
    if kind not in ("right", "wrong"):
        raise AttributeError(attribute)
    name = rest.replace("_", "-")
    wrong = wrong_saver(name)
    opened = RIGHT + name if kind == "right" else name
    opening = (
        f'from tests.conformance.reproducer_support import open_saver\nopen_saver("{opened}", path)'
    )
    decorate = target(name=name, opening=opening, drop=wrong.drop)
    return decorate(lambda workspace: open_saver(opened, str(workspace.path)))
