"""The request to the process that inspects a saver's class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from saverproof.process.requests import Request, Service


def is_file(text: str) -> bool:
    """Return whether a text names something in a file, as ``file.py:name``."""
    return text.partition(":")[0].endswith(".py")


@dataclass(frozen=True, slots=True)
class ClassName:
    """The name of a class as its author writes it: ``module:Class``."""

    module: str
    name: str

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Return the name in a text, which may also name the module's file: ``folder/module.py``.

        Return None if the text is of another form, or if no module is imported from such a file.
        """
        module, _, name = text.partition(":")
        if is_file(text):
            parts = Path(module).with_suffix("").parts
            # What is in src/ is imported without it.
            module = ".".join(parts[1:] if parts[:-1] and parts[0] == "src" else parts)
        if name and all(part.isidentifier() for part in module.split(".")):
            return cls(module, name)
        return None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Make a name from the result of ``asdict``."""
        return cls(**data)


@dataclass(frozen=True, slots=True)
class WayToOpen:
    """Source text that opens a saver in the body of a target, whose argument is ``workspace``.

    ``manager`` says what ``expression`` returns: a context manager ("sync" or "async"), or the
    saver itself (""). ``closing`` is the statement that ends a saver without a context manager.
    """

    expression: str
    manager: str = ""
    before: tuple[str, ...] = ()
    setup: str = ""
    closing: str = ""
    imports: tuple[str, ...] = ()
    runs_on_loop: bool = False

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Make a way from the result of ``asdict``."""
        lists = {name: tuple(data[name]) for name in ("before", "imports")}
        return cls(**{**data, **lists})


@dataclass(frozen=True, slots=True)
class SaverClass:
    """A saver's class, and the ways to open it, the likeliest first.

    ``call`` is the call that its author completes if none of the ways works.
    """

    module: str
    name: str
    distribution: str | None
    ways: tuple[WayToOpen, ...]
    call: str

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Make a class from the result of ``asdict``."""
        return cls(**{**data, "ways": tuple(map(WayToOpen.from_json, data["ways"]))})


NO_CLASS = "no class"
"""The words by which a message says that a name is no saver class; the name may be that of a
target.
"""

INSPECTING = Service(f"{__package__}")
"""The process that inspects a class: ``python -m saverproof.run.scaffold``."""

INSPECT: Request[ClassName, SaverClass] = Request(
    INSPECTING, "inspect", ClassName.from_json, SaverClass.from_json
)
