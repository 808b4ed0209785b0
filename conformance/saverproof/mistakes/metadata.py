"""Savers that lose metadata, or add to it what they should not."""

from __future__ import annotations

import json
from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import Blob
from saverproof.mistakes.reference.storing import UNMERGED_KEYS
from saverproof.mistakes.registry import mistake

# -- metadata -----------------------------------------------------------------------------

MERGED = "serialization/config-metadata-merged"
# Metadata that is not stored as given cannot be found by a filter on what was given.
FILTERS = {MERGED, "filter/equality", "filter/none", "filter/nested", "filter/dotted-key"}


class MetadataAs(ReferenceSaver):
    """A base saver that stores the metadata which `_stored_metadata` makes of what was given."""

    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        return metadata

    def _dump_metadata(self, metadata: dict[str, Any]) -> Blob:
        return super()._dump_metadata(self._stored_metadata(metadata))


@mistake("serialization/metadata", "a column for each key that the base class names", also=FILTERS)
class KnownMetadataOnly(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        known = {"source", "step", "parents", "run_id", "counters_since_delta_snapshot"}
        return {key: value for key, value in metadata.items() if key in known}


@mistake("serialization/metadata", "a hash of text values: numbers come back as text", also=FILTERS)
class MetadataAsText(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        numbers = (int, float)
        return {k: str(v) if isinstance(v, numbers) else v for k, v in metadata.items()}


@mistake("serialization/metadata", "exclude_none=True")
class NoneMetadataDropped(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in metadata.items() if value is not None}


@mistake("serialization/metadata", "`if value` drops step 0 and empty parents", also=FILTERS)
class FalsyMetadataDropped(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in metadata.items() if value or value is None}


@mistake("serialization/metadata", "nested dicts are flattened for the index", also=FILTERS)
class NestedMetadataFlattened(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        flat: dict[str, Any] = {}
        for key, value in metadata.items():
            nested = value if isinstance(value, dict) and value else None
            flat |= {f"{key}.{k}": v for k, v in nested.items()} if nested else {key: value}
        return flat


@mistake("serialization/metadata", "numbers are doubles: large integers are rounded", also=FILTERS)
class MetadataIntegersRounded(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        def rounded(value: Any) -> Any:
            return int(float(value)) if type(value) is int and abs(value) > 2**53 else value

        return {key: rounded(value) for key, value in metadata.items()}


@mistake("serialization/metadata", 'encode("ascii", "ignore")', also=FILTERS)
class MetadataInAscii(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        text = json.dumps(metadata, ensure_ascii=False, default=str)
        kept: dict[str, Any] = json.loads(text.encode("ascii", "ignore"))
        return kept


@mistake("serialization/metadata", "a TEXT column of MySQL: 65,535 bytes, and the rest is cut off")
class MetadataTextCut(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        return {
            key: value[:65_535] if isinstance(value, str) else value
            for key, value in metadata.items()
        }


@mistake("serialization/metadata", "an unsigned column for the step")
class StepsFromZero(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        return {k: max(v, 0) if k == "step" else v for k, v in metadata.items()}


@mistake("serialization/metadata", "a SMALLINT column for the step")
class StepsOfTwoBytes(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        if not -(2**15) <= metadata.get("step", 0) < 2**15:
            raise OverflowError("smallint out of range")
        return metadata


@mistake("serialization/metadata", "of the parents of a nested call, the root's alone is stored")
class RootParentOnly(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        def root(key: str, value: Any) -> Any:
            return {"": value[""]} if key == "parents" and len(value) > 1 else value

        return {key: root(key, value) for key, value in metadata.items()}


@mistake("serialization/metadata", "a list of one item comes back as the item, as from XML")
class SingleItemsUnwrapped(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        return {
            key: value[0] if isinstance(value, list) and len(value) == 1 else value
            for key, value in metadata.items()
        }


@mistake("serialization/metadata", "keys are lower-cased for the index", also=FILTERS)
class MetadataKeysWithoutCase(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        return {key.lower(): value for key, value in metadata.items()}


# -- config-metadata-merged ---------------------------------------------------------------


class Entries(ReferenceSaver):
    """A base saver that adds those entries of the config to the metadata that `_joins` selects."""

    def _joins(self, key: str, value: Any) -> bool:
        return True

    def _config_entries(self, config: Any) -> Any:
        entries = super()._config_entries(config)
        return ((key, value) for key, value in entries if self._joins(key, value))


@mistake(MERGED, "put stores the metadata that it is given, and nothing else")
class ConfigNotMerged(Entries):
    def _joins(self, key: str, value: Any) -> bool:
        return False


@mistake(MERGED, "the configurable is taken for addresses alone")
class ConfigurableNotMerged(ReferenceSaver):
    def _config_entries(self, config: Any) -> Any:
        return (config.get("metadata") or {}).items()


@mistake(MERGED, "config['metadata'] is taken for tracing alone")
class ConfigMetadataNotMerged(ReferenceSaver):
    def _config_entries(self, config: Any) -> Any:
        return config["configurable"].items()


@mistake(MERGED, "{**metadata, **config['metadata']}", also={"serialization/metadata", *FILTERS})
class ConfigOverridesMetadata(ReferenceSaver):
    def _merged_metadata(self, config: Any, metadata: Any) -> dict[str, Any]:
        merged = super()._merged_metadata(config, {})
        return {**super()._merged_metadata(config, metadata), **merged}


@mistake(MERGED, "only text joins")
class OnlyTextMerged(Entries):
    def _joins(self, key: str, value: Any) -> bool:
        return isinstance(value, str)


@mistake(MERGED, "type(value) in (str, int): booleans and floats do not join")
class BooleansNotMerged(Entries):
    def _joins(self, key: str, value: Any) -> bool:
        return type(value) in {str, int}


@mistake(MERGED, "falsy entries do not join")
class FalsyEntriesNotMerged(Entries):
    def _joins(self, key: str, value: Any) -> bool:
        return bool(value)


@mistake(MERGED, "no list of excluded keys: thread_id and its like join")
class ExcludedKeysMerged(ReferenceSaver):
    def _merged_metadata(self, config: Any, metadata: Any) -> dict[str, Any]:
        entries = dict(self._config_entries(config))
        excluded = {k: v for k, v in entries.items() if k in UNMERGED_KEYS and type(v) is str}
        return {**excluded, **super()._merged_metadata(config, metadata)}


@mistake(MERGED, "keys that start with __ join", also={"identity/loop-configs"})
class PrivateKeysMerged(ReferenceSaver):
    def _merged_metadata(self, config: Any, metadata: Any) -> dict[str, Any]:
        plain = (str, int, float)
        entries = dict(self._config_entries(config))
        private = {k: v for k, v in entries.items() if k.startswith("__") and isinstance(v, plain)}
        return {**private, **super()._merged_metadata(config, metadata)}
