"""What the process that looks at a saver's class can be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from saverproof.process.requests import Request, Service


@dataclass(frozen=True, slots=True)
class ClassName:
    """A class as its author names it: ``module:Class``."""

    module: str
    name: str

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """What ``asdict`` gave."""
        return cls(**data)


@dataclass(frozen=True, slots=True)
class WayToOpen:
    """Source text that opens a saver in the body of a target: ``workspace`` is its argument.

    ``manager`` says what ``expression`` gives: a context manager ("sync" or "async"), or the saver
    itself (""). ``closing`` is the statement that ends what is no context manager.
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
        """What ``asdict`` gave."""
        lists = {name: tuple(data[name]) for name in ("before", "imports")}
        return cls(**{**data, **lists})


@dataclass(frozen=True, slots=True)
class SaverClass:
    """What there is to know of a saver's class: the ways to open it, the likeliest first, and the
    call for its author to fill in where none works.
    """

    module: str
    name: str
    distribution: str | None
    ways: tuple[WayToOpen, ...]
    call: str

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """What ``asdict`` gave."""
        return cls(**{**data, "ways": tuple(map(WayToOpen.from_json, data["ways"]))})


NO_CLASS = "no class"
"""In the message about what is not a class, perhaps a target."""

INSPECTING = Service(f"{__package__}")
"""``python -m saverproof.scaffold``."""

INSPECT: Request[ClassName, SaverClass] = Request(
    INSPECTING, "inspect", ClassName.from_json, SaverClass.from_json
)
