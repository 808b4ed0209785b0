"""Wheels for an index of one's own, and facts about savers whose releases are asked for."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

NOWHERE = "http://127.0.0.1:9/simple"
"""The discard port, where nothing answers."""


def wheel(
    folder: Path, name: str, version: str, *fields: str, module: str = "", text: str = ""
) -> None:
    """Make a wheel with one module, by default one that says its version."""
    folder.mkdir(exist_ok=True)
    about = f"{name}-{version}.dist-info"
    lines = ("Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *fields)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as made:
        made.writestr(f"{module or name}.py", text or f"version = {version!r}\n")
        made.writestr(f"{about}/METADATA", "\n".join(lines) + "\n")
        made.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        made.writestr(f"{about}/RECORD", "")


def facts(distribution: str | None = "shelf") -> Any:
    return {
        "name": "kept",
        "distribution": distribution,
        "version": None if distribution is None else "2.0",
        "durable": True,
    }
