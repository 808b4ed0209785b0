"""Says in which other ways than the target's own a store can be written and read, and which changes
between them are tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from saverproof.families.upgrade import serializers

_ENCRYPTED = "from langgraph.checkpoint.serde.encrypted import EncryptedSerializer"
_JSONPLUS = "from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer"


@dataclass(frozen=True, slots=True)
class StorageSetting:
    """The way in which a release stores values: the serializer and the environment.

    ``serializer`` is the expression that makes it, after the statement ``needs``; "" for the
    target's own.
    """

    words: str
    serializer: str = ""
    needs: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any] | None:
        """Return the serializer as data for the process of a release; None for the target's own."""
        if not self.serializer:
            return None
        text = Path(serializers.__file__).read_text(encoding="utf-8")
        return {"statements": [text, self.needs], "expression": self.serializer}


OWN = StorageSetting("as the target opens it")
ENCRYPTED = StorageSetting(
    "with encryption", "EncryptedSerializer(TryingCipher(b'one'))", _ENCRYPTED
)
OTHER_KEY = StorageSetting(
    "with another key", "EncryptedSerializer(TryingCipher(b'another'))", _ENCRYPTED
)
JSON = StorageSetting("with a serializer that knows JSON alone", "JsonSerializer()")
PICKLED = StorageSetting("with a serializer that pickles", "PickleSerializer()")
PICKLE_FALLBACK = StorageSetting(
    "with JsonPlusSerializer(pickle_fallback=True)",
    "JsonPlusSerializer(pickle_fallback=True)",
    _JSONPLUS,
)
STRICT = StorageSetting(
    "with LANGGRAPH_STRICT_MSGPACK=true", environment={"LANGGRAPH_STRICT_MSGPACK": "true"}
)
LENIENT = StorageSetting(
    "without strict msgpack", environment={"LANGGRAPH_STRICT_MSGPACK": "false"}
)


@dataclass(frozen=True, slots=True)
class SettingChange:
    """The setting with which a store was written, and the one with which it is read afterwards."""

    name: str
    before: StorageSetting
    after: StorageSetting

    def __str__(self) -> str:
        return f"{self.before.words}, then {self.after.words}"


CHANGES: Mapping[str, SettingChange] = {
    change.name: change
    for change in (
        SettingChange("encryption-on", OWN, ENCRYPTED),
        SettingChange("encryption-off", ENCRYPTED, OWN),
        SettingChange("another-key", ENCRYPTED, OTHER_KEY),
        SettingChange("strict-msgpack", OWN, STRICT),
        SettingChange("from-json", JSON, OWN),
        SettingChange("to-json", OWN, JSON),
        SettingChange("pickles-allowed", PICKLED, PICKLE_FALLBACK),
        SettingChange("pickles-no-more", PICKLED, OWN),
    )
}
