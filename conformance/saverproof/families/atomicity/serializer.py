"""A serializer that counts what it is given, and refuses one value."""

from __future__ import annotations

from typing import Any


class RefusedError(TypeError):
    """What a serializer raises for a value that it cannot take."""


class CountingSerializer:
    """Passes for the serializer that it wraps; ``refuses`` is the number of the value to refuse."""

    def __init__(self, inner: Any, refuses: int = 0) -> None:
        self._inner = inner
        self._refuses = refuses
        self.count = 0

    @property
    def fired(self) -> bool:
        """Whether it has refused."""
        return 0 < self._refuses <= self.count

    def dumps_typed(self, value: Any) -> Any:
        """Serialize, or refuse."""
        self.count += 1
        if self.count == self._refuses:
            raise RefusedError("refused on purpose: this value cannot be serialized")
        return self._inner.dumps_typed(value)

    def loads_typed(self, data: Any) -> Any:
        """Read back."""
        return self._inner.loads_typed(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
