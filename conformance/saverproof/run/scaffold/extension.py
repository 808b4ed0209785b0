"""The files of a distribution that adds a family of contracts, with one contract to change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from saverproof.contracts.registry import families
from saverproof.errors import SaverproofError
from saverproof.run.scaffold.rendering import TEMPLATES

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def extension_texts(name: str) -> Mapping[Path, str]:
    """Return the text of each file of the distribution, by its path in it.

    Raises:
        SaverproofError: ``name`` cannot be a family's name.
    """
    if not _NAME.fullmatch(name):
        raise SaverproofError(
            f"--extension: found {name!r}, expected a name such as labels or our-labels: lower "
            "case, digits, hyphens"
        )
    if name in families():
        raise SaverproofError(f"--extension: there is a family {name!r} already")
    package = f"saverproof_{name.replace('-', '_')}"
    folder = Path(f"saverproof-{name}")
    found = {
        folder / "pyproject.toml": "pyproject.toml.j2",
        folder / package / "contracts.py": "contracts.py.j2",
        folder / package / "checks.py": "checks.py.j2",
    }
    texts = {
        path: TEMPLATES.get_template(f"extension/{template}").render(name=name, package=package)
        for path, template in found.items()
    }
    head = f'"""Contracts of our own for LangGraph checkpointers: the family {name}."""\n'
    return {**texts, folder / package / "__init__.py": head}
