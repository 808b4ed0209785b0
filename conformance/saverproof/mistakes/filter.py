"""Savers that compare metadata wrongly."""

from __future__ import annotations

import fnmatch
import json
import unicodedata
from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.registry import mistake

Metadata = dict[str, Any]
# A missing key is compared as None.
NONE = {"filter/none"}
ODD_FILTERS = {"filter/nested", "filter/dotted-key"}


@mistake("filter/equality", "`if value:` skips 0, False and ''")
class FalsyFilterSkipped(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        if not value and value is not None and not isinstance(value, (dict, list)):
            return True
        return super()._equals(metadata, key, value)


@mistake("filter/equality", "any() for all()")
class AnyKeySuffices(ReferenceSaver):
    def _matches(self, metadata: Metadata, filter: Metadata) -> bool:
        return any(self._equals(metadata, key, value) for key, value in filter.items())


@mistake("filter/equality", "only the first key of the filter is used")
class FirstKeyOnly(ReferenceSaver):
    def _matches(self, metadata: Metadata, filter: Metadata) -> bool:
        return super()._matches(metadata, dict([next(iter(filter.items()))]))


@mistake("filter/equality", "an index of two keys, and the rest of the filter is forgotten")
class FirstTwoKeysOnly(ReferenceSaver):
    def _matches(self, metadata: Metadata, filter: Metadata) -> bool:
        return super()._matches(metadata, dict([*filter.items()][:2]))


@mistake("filter/equality", "a column of 255 characters for the value")
class FilterValuesCut(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        found = metadata.get(key)
        if isinstance(found, str) and isinstance(value, str):
            return found[:255] == value[:255]
        return super()._equals(metadata, key, value)


@mistake("filter/equality", "LIKE for =, and LIKE has no case")
class FilterWithoutCase(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        found = metadata.get(key)
        if isinstance(found, str) and isinstance(value, str):
            return found.lower() == value.lower()
        return super()._equals(metadata, key, value)


@mistake("filter/equality", "a full-text search: the value may be a part")
class FilterByPart(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        found = metadata.get(key)
        if isinstance(found, str) and isinstance(value, str):
            return value in found
        return super()._equals(metadata, key, value)


@mistake("filter/equality", "LIKE for =: % and _ are wildcards, here a trailing %")
class FilterWithWildcard(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        found = metadata.get(key)
        if isinstance(found, str) and isinstance(value, str) and "%" in value:
            return found.startswith(value.split("%")[0])
        return super()._equals(metadata, key, value)


@mistake("filter/equality", "both sides are made text: 1 equals '1'")
class FilterAsText(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        found = metadata.get(key)
        plain = (str, int, float)
        if isinstance(found, plain) and isinstance(value, plain) and not isinstance(value, bool):
            return str(found) == str(value)
        return super()._equals(metadata, key, value)


@mistake(
    "filter/equality",
    "str() of both sides: 1 equals '1', None equals 'None', and dicts have an order",
    also={*NONE, "filter/nested"},
)
class FilterAsTextThroughout(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        return str(metadata.get(key)) == str(value)


@mistake(
    "filter/equality",
    "texts of JSON are compared: 1.0 is not 1, and dicts have an order",
    also={"filter/nested"},
)
class FilterAsJson(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        return json.dumps(metadata.get(key), default=str) == json.dumps(value, default=str)


@mistake(
    "filter/equality",
    "metadata ->> key = text: 1 equals '1', true equals 'true', and dicts have an order",
    also={*NONE, "filter/nested"},
)
class FilterAsJsonText(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        found = metadata.get(key)
        return found is not None and value is not None and _text(found) == _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


@mistake("filter/equality", "the tag index knows only the keys that the base class names")
class KnownKeysOnly(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        known = {"source", "step", "run_id", "parents"}
        return key not in known or super()._equals(metadata, key, value)


@mistake("filter/equality", "`get(key, value) == value`: a missing key matches", also=ODD_FILTERS)
class MissingKeyMatches(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        return bool(metadata.get(key, value) == value)


@mistake(
    "filter/equality",
    "COALESCE(metadata ->> key, :value) = :value: a missing key and null match",
    also=ODD_FILTERS,
)
class MissingAndNullMatch(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        found = metadata.get(key)
        return found is None or bool(found == value)


@mistake(
    "filter/equality",
    "`(get(key) or value) == value`: a missing key, null, 0, False and '' match",
    also={*ODD_FILTERS, *NONE},
)
class FalsyMetadataMatches(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        return bool((metadata.get(key) or value) == value)


@mistake("filter/equality", "numbers go through a 32-bit float")
class NumbersCompareLoosely(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        found = metadata.get(key)
        numbers = all(type(number) in {int, float} for number in (found, value))
        if numbers and found is not None:
            return bool(abs(found - value) <= abs(value) * 1e-7)
        return super()._equals(metadata, key, value)


@mistake("filter/equality", "the option is ignored", also={*NONE, *ODD_FILTERS})
class FilterIgnored(ReferenceSaver):
    def _matches(self, metadata: Metadata, filter: Metadata) -> bool:
        return True


@mistake("filter/equality", "booleans are stored as text: 'true' is not True")
class BooleansNeverMatch(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        return not isinstance(value, bool) and super()._equals(metadata, key, value)


@mistake("filter/none", "`= NULL` is never true")
class NoneMatchesNothing(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        return value is not None and super()._equals(metadata, key, value)


@mistake("filter/none", "`if value is not None:` leaves the condition out")
class NoneMatchesEverything(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        return value is None or super()._equals(metadata, key, value)


@mistake("filter/none", "a JSON null is there: IS NULL finds missing keys alone")
class NoneMatchesMissingOnly(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        if value is None:
            return key not in metadata
        return super()._equals(metadata, key, value)


@mistake("filter/none", "containment of {key: null} finds null alone, never a missing key")
class NoneMatchesNullOnly(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        return key in metadata and super()._equals(metadata, key, value)


def contains(whole: Any, part: Any) -> bool:
    """Return whether one JSON value contains another, as jsonb's @> has it."""
    if isinstance(whole, dict) and isinstance(part, dict):
        return all(key in whole and contains(whole[key], part[key]) for key in part)
    if isinstance(whole, list) and isinstance(part, list):
        return all(any(contains(item, wanted) for item in whole) for wanted in part)
    return bool(whole == part)


@mistake("filter/nested", "jsonb containment: a dict that holds more matches as well")
class NestedByContainment(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        if isinstance(value, (dict, list)):
            return contains(metadata.get(key), value)
        return super()._equals(metadata, key, value)


@mistake("filter/nested", "JSON text is compared, spaces and order of keys included")
class NestedAsText(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        if isinstance(value, (dict, list)):
            stored = json.dumps(metadata.get(key), separators=(",", ":"))
            return stored == json.dumps(value)
        return super()._equals(metadata, key, value)


@mistake("filter/nested", "str(value) where the database knows no dicts")
class NestedAsRepr(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        if isinstance(value, (dict, list)):
            return bool(metadata.get(key) == str(value))
        return super()._equals(metadata, key, value)


@mistake("filter/nested", "a dict matches each that has the same keys")
class NestedByKeys(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        stored = metadata.get(key)
        if isinstance(value, dict) and isinstance(stored, dict):
            return stored.keys() == value.keys()
        return super()._equals(metadata, key, value)


@mistake("filter/nested", "lists are compared as sets of items")
class NestedListsWithoutOrder(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        stored = metadata.get(key)
        if isinstance(value, list) and isinstance(stored, list):
            return set(map(repr, stored)) == set(map(repr, value))
        return super()._equals(metadata, key, value)


@mistake("filter/nested", "only the first level is compared: what lies deeper matches always")
class NestedToTheFirstLevel(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        return super()._equals({key: _flat(metadata.get(key))}, key, _flat(value))


def _flat(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {k: type(v).__name__ if isinstance(v, (dict, list)) else v for k, v in value.items()}


@mistake("filter/dotted-key", "json_extract(metadata, '$.' || key): a dot is a step down")
class DottedKeyIsAPath(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        found: Any = metadata
        for part in key.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        return bool(found == value)


@mistake("filter/dotted-key", "dots are refused where a key becomes a column path")
class DottedKeyRefused(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        if "." in key:
            raise ValueError(f"invalid filter key {key!r}")
        return super()._equals(metadata, key, value)


@mistake("filter/equality", "fnmatch for =: * and ? and [ ] are wildcards")
class FilterByGlob(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        found = metadata.get(key)
        if isinstance(found, str) and isinstance(value, str):
            return fnmatch.fnmatchcase(found, value)
        return super()._equals(metadata, key, value)


@mistake("filter/equality", "str() of what is asked for: a stored 'None' is None", also=NONE)
class NoneIsItsText(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        return str(metadata.get(key)) == str(value) or super()._equals(metadata, key, value)


@mistake("filter/equality", "a tag index normalizes its terms")
class FilterNormalized(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        found = metadata.get(key)
        if isinstance(found, str) and isinstance(value, str):
            return unicodedata.normalize("NFC", found) == unicodedata.normalize("NFC", value)
        return super()._equals(metadata, key, value)


@mistake("filter/equality", "@user_id:{an\\-n}: a blank parts two terms, of which either suffices")
class FilterByTerms(ReferenceSaver):
    def _equals(self, metadata: Metadata, key: str, value: Any) -> bool:
        found = metadata.get(key)
        if isinstance(found, str) and isinstance(value, str) and "," in value:
            return found in value.split(",")
        return super()._equals(metadata, key, value)
