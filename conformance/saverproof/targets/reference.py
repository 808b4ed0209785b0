"""How a target is found again, in this process or another."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class TargetRef:
    """Where a target lives: an attribute of a module, or of a file outside any package."""

    saver: str
    """What the user wrote after ``--saver``, for messages."""
    module: str | None
    """Dotted name of the module, or None for a file."""
    file: str | None
    """Absolute path of the file, or None for a module."""
    attribute: str
    """Dotted path of the attribute in the module or file."""
    shares_store: bool = False
    """Whether its workspaces were found to share a store."""

    def to_json(self) -> dict[str, Any]:
        """Plain data, for a child process."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The reference that ``to_json`` gave."""
        return cls(**data)
