"""A serializer that writes JSON where JSON holds a value exactly, so that SQL can read it."""

import json
from collections.abc import Iterable
from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from saverproof_savers.codec import is_exact_json, stands_for_plain_values

_REVIVED = '"lc"'


class JsonFirstSerializer(JsonPlusSerializer):
    """JSON for what JSON gives back equal and of the same types, LangGraph's msgpack for the rest.

    Takes the arguments of JsonPlusSerializer, and reads whatever that one has written. A value is
    stored in one piece: a list of messages is msgpack, a dict of texts and numbers is JSON.
    """

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """("json", UTF-8 text), or what JsonPlusSerializer gives."""
        if obj is not None and is_exact_json(obj):
            text = json.dumps(obj, ensure_ascii=False, separators=(",", ":"))
            # Objects with the key "lc" mean something else to LangGraph when they are read.
            if _REVIVED not in text:
                try:
                    return "json", text.encode("utf-8")
                except UnicodeEncodeError:
                    # A lone surrogate, which JSON can hold only as an escape.
                    return "json", json.dumps(obj, separators=(",", ":")).encode("ascii")
        return super().dumps_typed(obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """What ``dumps_typed`` of this serializer, or of JsonPlusSerializer, was given."""
        kind, text = data
        if kind == "json" and _REVIVED.encode() not in text:
            return json.loads(text)
        return super().loads_typed(data)


stands_for_plain_values(JsonFirstSerializer)


def strict_serializer(allowed_types: Iterable[type]) -> JsonPlusSerializer:
    """LangGraph's serializer, which builds objects of these types and of its own safe ones only.

    Whatever else is found in the database comes back as the plain data it was made of. Raises
    RuntimeError if the installed langgraph-checkpoint cannot do that.
    """
    try:
        return JsonPlusSerializer(allowed_msgpack_modules=list(allowed_types) or None)
    except TypeError:
        raise RuntimeError(
            "allowed_types needs a newer langgraph-checkpoint, whose JsonPlusSerializer takes "
            "allowed_msgpack_modules"
        ) from None
