"""A serializer that writes JSON where JSON holds a value exactly, so that SQL can read it."""

import json
from collections.abc import Iterable
from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from saverproof_savers.codec import is_exact_json, stands_for_plain_values

_REVIVED = '"lc"'


class JsonFirstSerializer(JsonPlusSerializer):
    """A serializer that prefers JSON.

    It writes JSON if JSON gives the value back equal and of the same types, else LangGraph's
    msgpack. It takes the arguments of JsonPlusSerializer, and reads whatever that has written. A
    value is stored in one piece: a list of messages is msgpack, a dict of texts and numbers is
    JSON.
    """

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Return ("json", UTF-8 text), or what JsonPlusSerializer returns."""
        if obj is not None and is_exact_json(obj):
            text = json.dumps(obj, ensure_ascii=False, separators=(",", ":"))
            # LangGraph reads an object with the key "lc" as something else.
            if _REVIVED not in text:
                try:
                    return "json", text.encode("utf-8")
                except UnicodeEncodeError:
                    # The text has a lone surrogate, which JSON can hold only as an escape.
                    return "json", json.dumps(obj, separators=(",", ":")).encode("ascii")
        return super().dumps_typed(obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Return the value that ``dumps_typed`` was given, here or of JsonPlusSerializer."""
        kind, text = data
        if kind == "json" and _REVIVED.encode() not in text:
            return json.loads(text)
        return super().loads_typed(data)


stands_for_plain_values(JsonFirstSerializer)


def strict_serializer(allowed_types: Iterable[type]) -> JsonPlusSerializer:
    """Return LangGraph's serializer, limited to objects of these types and of its own safe ones.

    Anything else in the database comes back as the plain data that it was made of.

    Raises:
        RuntimeError: the installed langgraph-checkpoint cannot do that.
    """
    try:
        return JsonPlusSerializer(allowed_msgpack_modules=list(allowed_types) or None)
    except TypeError:
        raise RuntimeError(
            "allowed_types needs a newer langgraph-checkpoint, whose JsonPlusSerializer takes "
            "allowed_msgpack_modules"
        ) from None
