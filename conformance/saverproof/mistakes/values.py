"""Savers that change values."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import math
import struct
import unicodedata
import uuid
from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import Blob
from saverproof.mistakes.registry import mistake

VALUES = "serialization/channel-values"
WRITES = "serialization/write-values"


class Mangling:
    """A mixin that changes values on their way into the store."""

    def mangled(self, value: Any) -> Any:
        """Return the value as it will come back, with it or its parts changed."""
        changed = self.changed(value)
        if changed is not value:
            return changed
        if type(value) is dict:
            return {self.key(k): self.mangled(v) for k, v in value.items()}
        return [self.mangled(item) for item in value] if type(value) is list else value

    def changed(self, value: Any) -> Any:
        """Return the value that replaces this one; the same value if nothing is wrong with it."""
        return value

    def key(self, key: Any) -> Any:
        """Return the key under which an item of a dict comes back."""
        return key


class MangledValues(Mangling, ReferenceSaver):
    def _dump_value(self, value: Any) -> Blob:
        self._dump(value)
        return self._dump(self.mangled(value))


class MangledWrites(Mangling, ReferenceSaver):
    def _dump_write(self, value: Any) -> Blob:
        self._dump(value)
        return self._dump(self.mangled(value))


# A snapshot of a delta channel that comes back as a list is no snapshot.
SNAPSHOTS = {"deletion/prune-keeps-delta-chain", "delta-history/matches-walk"}


@mistake(VALUES, "json.dumps(value, default=str)", also={*SNAPSHOTS, "serialization/non-finite"})
class ValuesAsJson(ReferenceSaver):
    def _dump_value(self, value: Any) -> Blob:
        self._dump(value)
        return ("json", json.dumps(value, default=str, skipkeys=True))

    def _load_value(self, blob: Blob) -> Any:
        return json.loads(blob[1])


@mistake(VALUES, "keys of dicts become text, as in JSON")
class DictKeysAsText(MangledValues):
    def key(self, key: Any) -> Any:
        return str(key)


@mistake(VALUES, "sets become lists")
class SetsAsLists(MangledValues):
    def changed(self, value: Any) -> Any:
        return list(value) if isinstance(value, (set, frozenset)) else value


@mistake(VALUES, "bytes become text")
class BytesAsText(MangledValues):
    def changed(self, value: Any) -> Any:
        return value.decode("latin-1") if isinstance(value, bytes) else value


@mistake(VALUES, "dates become ISO text")
class DatesAsText(MangledValues):
    def changed(self, value: Any) -> Any:
        dates = (datetime.date, datetime.time)
        return value.isoformat() if isinstance(value, dates) else value


@mistake(VALUES, "a timestamp column without a time zone")
class DatesWithoutZone(MangledValues):
    def changed(self, value: Any) -> Any:
        aware = isinstance(value, datetime.datetime) and value.tzinfo is not None
        return value.replace(tzinfo=None) if aware else value


@mistake(VALUES, "UUIDs become text")
class UuidsAsText(MangledValues):
    def changed(self, value: Any) -> Any:
        return str(value) if isinstance(value, uuid.UUID) else value


@mistake(VALUES, "an enum becomes its value")
class EnumsAsValues(MangledValues):
    def changed(self, value: Any) -> Any:
        return value.value if isinstance(value, enum.Enum) else value


@mistake(VALUES, "a Decimal becomes a float")
class DecimalsAsFloats(MangledValues):
    def changed(self, value: Any) -> Any:
        return float(value) if isinstance(value, decimal.Decimal) else value


@mistake(VALUES, "a timedelta becomes its seconds")
class TimedeltasAsSeconds(MangledValues):
    def changed(self, value: Any) -> Any:
        return value.total_seconds() if isinstance(value, datetime.timedelta) else value


@mistake(VALUES, "a list has a thousand items at most")
class ListsCutAtAThousand(MangledValues):
    def changed(self, value: Any) -> Any:
        return value[:1_000] if type(value) is list and len(value) > 1_000 else value


@mistake(VALUES, "what is nested deeper than thirty levels becomes text")
class DeepValuesAsText(MangledValues):
    depth = 0

    def mangled(self, value: Any) -> Any:
        if self.depth > 30:
            return str(value)
        self.depth += 1
        try:
            return super().mangled(value)
        finally:
            self.depth -= 1


@mistake(VALUES, "a table of messages with columns for the usual fields")
class MessageExtrasDropped(MangledValues):
    def changed(self, value: Any) -> Any:
        extras: dict[str, Any] = {"additional_kwargs": {}, "response_metadata": {}}
        return value.model_copy(update=extras) if hasattr(value, "response_metadata") else value


@mistake(VALUES, "models become dicts, and stay dicts")
class ModelsAsDicts(MangledValues):
    def changed(self, value: Any) -> Any:
        if hasattr(value, "model_dump") and not isinstance(value, type):
            return value.model_dump()
        return dataclasses.asdict(value) if self._is_record(value) else value

    def _is_record(self, value: Any) -> bool:
        return dataclasses.is_dataclass(value) and not isinstance(value, type)


@mistake(VALUES, "numbers are doubles, as in JavaScript: integers from 2^53 are rounded")
class IntegersAsDoubles(MangledValues):
    def changed(self, value: Any) -> Any:
        return int(float(value)) if type(value) is int and abs(value) > 2**53 else value


@mistake(VALUES, "a signed 64-bit column: larger integers come back negative")
class IntegersSigned(MangledValues):
    def changed(self, value: Any) -> Any:
        return value - 2**64 if type(value) is int and value >= 2**63 else value


@mistake(VALUES, "a float column of four bytes")
class FloatsSingle(MangledValues):
    def changed(self, value: Any) -> Any:
        if type(value) is not float or not math.isfinite(value) or abs(value) > 1e38:
            return value
        return struct.unpack("f", struct.pack("f", value))[0]


@mistake(VALUES, "a whole float becomes an integer, as jsonb has it")
class WholeFloatsAsIntegers(MangledValues):
    def changed(self, value: Any) -> Any:
        return int(value) if type(value) is float and value.is_integer() else value


@mistake(VALUES, "what is not finite becomes null", also={"serialization/non-finite"})
class NonFiniteAsNone(MangledValues):
    def changed(self, value: Any) -> Any:
        return None if type(value) is float and not math.isfinite(value) else value


@mistake(VALUES, "a text column of 64 KiB cuts what is longer")
class LongTextCut(MangledValues):
    def changed(self, value: Any) -> Any:
        return value[:65535] if type(value) is str and len(value) > 65535 else value


@mistake(VALUES, "three bytes a character: emoji become question marks")
class AstralTextLost(MangledValues):
    def changed(self, value: Any) -> Any:
        if type(value) is not str or value.isascii():
            return value
        return "".join(char if ord(char) < 0x10000 else "?" for char in value)


@mistake(VALUES, "the database normalizes text")
class TextNormalized(MangledValues):
    def changed(self, value: Any) -> Any:
        return unicodedata.normalize("NFKC", value) if type(value) is str else value


@mistake(VALUES, "text is trimmed")
class TextTrimmed(MangledValues):
    def changed(self, value: Any) -> Any:
        return value.strip() if type(value) is str else value


@mistake(VALUES, "text ends at NUL, as in C", also={"serialization/nul-in-strings"})
class TextEndsAtNul(MangledValues):
    def changed(self, value: Any) -> Any:
        return value.split("\0")[0] if type(value) is str and "\0" in value else value


# A prune keeps ancestors that may hold the value which the latest checkpoint seems to lack.
@mistake(
    VALUES,
    "`if value:` drops 0, False, '' and empty containers",
    also={"deletion/prune-drops-older"},
)
class FalsyValuesDropped(ReferenceSaver):
    def _dump_value(self, value: Any) -> Any:
        return self._dump(value) if value or value is None else None


@mistake(VALUES, "None stands for no value")
class NoneValuesDropped(ReferenceSaver):
    def _dump_value(self, value: Any) -> Any:
        return None if value is None else self._dump(value)


@mistake(VALUES, "only the bytes are kept, and read as msgpack")
class TypeTagLost(ReferenceSaver):
    def _load_value(self, blob: Blob) -> Any:
        return self._load(("msgpack", blob[1]))


@mistake(VALUES, "`or {}` for a value that could not be read")
class EmptyValuesAsDicts(MangledValues):
    def changed(self, value: Any) -> Any:
        return {} if isinstance(value, (str, list)) and not value else value


@mistake("serialization/non-finite", "allow_nan=False refuses")
class NonFiniteRefused(MangledValues):
    def changed(self, value: Any) -> Any:
        if type(value) is float and not math.isfinite(value):
            raise ValueError("Out of range float values are not JSON compliant")
        return value


@mistake("serialization/nul-in-strings", "text columns of PostgreSQL cannot hold NUL")
class NulRefused(MangledValues):
    def changed(self, value: Any) -> Any:
        if type(value) is str and "\0" in value:
            raise ValueError("unsupported Unicode escape sequence: \\u0000")
        return value


@mistake(WRITES, "JSON for the writes, because they are small", also={"serialization/non-finite"})
class WritesAsJson(ReferenceSaver):
    def _dump_write(self, value: Any) -> Blob:
        self._dump(value)
        return ("json", json.dumps(value, default=repr, skipkeys=True))

    def _load_write(self, blob: Blob) -> Any:
        return json.loads(blob[1])


@mistake(WRITES, "str() of everything that is no dict")
class WritesAsText(MangledWrites):
    def changed(self, value: Any) -> Any:
        return str(value) if isinstance(value, (int, float)) else value


@mistake(WRITES, "bytes become text in the writes table")
class WrittenBytesAsText(MangledWrites):
    def changed(self, value: Any) -> Any:
        return value.decode("latin-1") if isinstance(value, bytes) else value


@mistake(WRITES, "str(error) drops the type of the exception")
class ErrorsAsMessage(MangledWrites):
    def changed(self, value: Any) -> Any:
        return str(value) if isinstance(value, BaseException) else value


@mistake(WRITES, "`value or None`")
class FalsyWritesAsNone(MangledWrites):
    def changed(self, value: Any) -> Any:
        return value or None if isinstance(value, (bool, int, str, list, dict)) else value


@mistake(WRITES, "the writes' column is shorter than the values'")
class LongWritesCut(MangledWrites):
    def changed(self, value: Any) -> Any:
        return value[:65535] if type(value) is str and len(value) > 65535 else value


@mistake(WRITES, "only the bytes of a write are kept, and read as msgpack")
class WriteTypeTagLost(ReferenceSaver):
    def _load_write(self, blob: Blob) -> Any:
        return self._load(("msgpack", blob[1]))
