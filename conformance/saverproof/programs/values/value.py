"""Values as data, as they stand in programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from saverproof.programs.values.catalogue import CATALOGUE, kinds
from saverproof.programs.values.kind import Seed


@dataclass(frozen=True, slots=True)
class Value:
    """A value of the catalogue: its kind, and a seed that tells it from others of that kind."""

    kind: str
    seed: Seed

    def make(self) -> Any:
        """Return a fresh object each time; callers may change it.

        Raises:
            KeyError: the catalogue has no such kind.
            Exception: this machine cannot make it (no time zones, an older LangGraph); `roundtrips`
                says so beforehand.
        """
        return CATALOGUE[self.kind].make(self.seed)

    def source(self) -> str:
        """Return a Python expression that makes an equal object."""
        return CATALOGUE[self.kind].source(self.seed)

    def imports(self) -> frozenset[str]:
        """Return the import lines that `source()` needs."""
        return CATALOGUE[self.kind].imports

    @property
    def group(self) -> str:
        """The group of its kind."""
        return CATALOGUE[self.kind].group

    @property
    def is_none(self) -> bool:
        """True if it is None. Several kinds have None among their values."""
        return self.source() == "None"

    def to_json(self) -> list[Seed]:
        """`[kind, seed]`."""
        return [self.kind, self.seed]

    @classmethod
    def from_json(cls, data: Any) -> Value:
        """Return the value that `to_json` described.

        Raises:
            ValueError: the data is no pair of a known kind and a seed that fits it.
        """
        match data:
            case [str(kind), int() | str() as seed] if not isinstance(seed, bool):
                pass
            case _:
                raise ValueError(f"value {data!r}: expected a kind and a seed, as in ['text', 'a']")
        if kind not in CATALOGUE:
            raise ValueError(f"value {data!r}: no kind {kind!r} in the catalogue")
        if isinstance(seed, str) and kind != "text":
            raise ValueError(f"value {data!r}: seed {seed!r}, expected an integer")
        return cls(kind, seed)


def values(*groups: str) -> tuple[Value, ...]:
    """Return one value of each form of each kind of these groups.

    Raises:
        ValueError: a group does not exist.
    """
    return tuple(Value(kind.name, seed) for kind in kinds(*groups) for seed in range(kind.forms))
