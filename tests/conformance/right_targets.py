"""The right savers as targets that any process can load, each an attribute of this module."""

from __future__ import annotations

from tests.right_savers import RIGHT, RightSaver

from saverproof import target
from saverproof.capability import Capability
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.target import Target


def ref_to(name: str) -> TargetRef:
    """Where the target of a right saver is."""
    return TargetRef(name, __name__, None, name.replace("-", "_"))


def _target_of(right: RightSaver) -> Target:
    declines = {Capability(name): why for name, why in right.declines.items()}
    # A target with `drop` is taken to keep its data elsewhere than in its folder.
    drop = right.drop if issubclass(right.saver, ReferenceSaver) else None
    decorate = target(name=right.name, durable=right.durable, capabilities=declines, drop=drop)
    return decorate(right.make)


def __getattr__(attribute: str) -> Target:
    for right in RIGHT:
        if right.name == attribute.replace("_", "-"):
            return _target_of(right)
    raise AttributeError(attribute)
