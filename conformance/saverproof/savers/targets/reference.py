"""References to targets, by which this process or another finds them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class TargetRef:
    """The place of a target: an attribute of a module, or of a file outside of any package."""

    saver: str
    """The text that the user wrote after ``--saver``, for messages."""
    module: str | None
    """The dotted name of the module; None for a file."""
    file: str | None
    """The absolute path of the file; None for a module."""
    attribute: str
    """The dotted path of the attribute in the module or file."""
    shares_store: bool = False
    """True if its workspaces were found to share a store."""

    def to_json(self) -> dict[str, Any]:
        """Return the reference as plain data, for a child process."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the reference that ``to_json`` converted."""
        return cls(**data)
