"""Kinds of values whose inside matters to savers: containers, packed data, near duplicates."""

from __future__ import annotations

from saverproof.programs.values.kind import chosen

_DATETIME = "from datetime import datetime"
_MESSAGE = "from langchain_core.messages import HumanMessage"
_DOCUMENT = "from langchain_core.documents import Document"
_TYPES = "from langgraph.types import {}"
_HELD = (
    "{'when': datetime(2024, 2, 29, 12, <n> % 60), 'n': <n>}",
    "{'some': {<n>, 'a'}, 'raw': b'\\xff<n>'}",
    "[HumanMessage(content='<n>', id='h<n>')]",
    "Document(page_content='page <n>')",
)
_IMPORTS = (_DATETIME, _MESSAGE, _DOCUMENT)

HOLDING = (
    chosen(
        "object",
        "holding-interrupt",
        *(f"Interrupt(value={held}, id='i<n>')" for held in _HELD),
        imports=(*_IMPORTS, _TYPES.format("Interrupt")),
    ),
    chosen(
        "object",
        "holding-send",
        *(f"Send('node', {held})" for held in _HELD),
        imports=(*_IMPORTS, _TYPES.format("Send")),
    ),
    # The snapshots that the loop stores of a delta channel after every so many changes.
    chosen(
        "object",
        "delta-snapshot",
        "_DeltaSnapshot([<n>, 'a'])",
        "_DeltaSnapshot([HumanMessage(content='<n>', id='h<n>')])",
        imports=(_MESSAGE, "from langgraph.checkpoint.serde.types import _DeltaSnapshot"),
    ),
)
"""LangGraph objects that hold values which neither JSON nor tables can."""

PACKED = (
    chosen(
        "scalar",
        "packed-bytes",
        *("zlib.compress(b'<n>')", "gzip.compress(b'<n>', mtime=0)", "b'x\\x9c<n>'"),
        *("b'\\x1f\\x8b<n>'", "b'\\x28\\xb5\\x2f\\xfd<n>'", "b'\\x04\\x22\\x4d\\x18<n>'"),
        *("pickle.dumps([<n>], protocol=4)", "pickle.dumps({'n': <n>}, protocol=5)"),
        *("b'\\x81\\xa1n\\xcd' + (<n>).to_bytes(2)", "b'{\"n\": <n>}'"),
        imports=("import gzip", "import pickle", "import zlib"),
    ),
    chosen(
        "scalar",
        "encoded-text",
        *("'dGV4dA=='", "'%7B%22a%22%3A1%7D'", "'74657874'", "'data:text/plain,a'"),
        *("'H4sIAAAAAAAA'", "'\\\\x74657874'", "'gAAAAABm'", "'!!python/none'"),
    ),
    chosen(
        "container",
        "envelope",
        *("{'type': 'msgpack', 'data': <n>}", "{'type': 'bytes', 'data': '<n>'}"),
        *("{'$date': '2024-02-<n>'}", "{'$binary': 'QQ<n>'}", "{'$ref': '<n>'}"),
        *("{'__type__': 'set', 'value': [<n>]}", "{'py/object': 'a.b', 'n': <n>}"),
        "{'lc': 2, 'type': 'constructor', 'id': ['a', 'B'], 'kwargs': {'n': <n>}}",
    ),
)
"""Values that look compressed, encoded or wrapped, and are not."""

NEARLY_ALIKE = (
    chosen(
        "medium",
        "alike-but-in-the-middle",
        "'a' * 32_768 + f'{<n>:06}' + 'b' * 32_768",
        "b'a' * 32_768 + b'%06d' % <n> + b'b' * 32_768",
    ),
    chosen(
        "medium",
        "alike-but-at-the-end",
        "'a' * 65_536 + f'{<n>:06}'",
        "b'a' * 65_536 + b'%06d' % <n>",
    ),
)
"""Long values of one length that differ in one place only."""
