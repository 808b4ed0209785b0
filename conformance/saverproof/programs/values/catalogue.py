"""Every kind of value that programs store in channels and pending writes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from saverproof.programs.values.kind import Kind, Seed, chosen
from saverproof.programs.values.objects import MESSAGES, OBJECTS
from saverproof.programs.values.structured import HOLDING, NEARLY_ALIKE, PACKED


def _integer(seed: Seed) -> int:
    if not isinstance(seed, int):
        raise TypeError(f"value of kind 'integer': seed {seed!r}, expected an integer")
    return seed


def _text(seed: Seed) -> str:
    return seed if isinstance(seed, str) else f"text {seed}"


_PLAIN = (
    Kind("integer", "plain", _integer, lambda seed: repr(_integer(seed))),
    Kind("text", "plain", _text, lambda seed: repr(_text(seed))),
    chosen("plain", "none", "None"),
    chosen("plain", "boolean", "False", "True"),
    chosen(
        "falsy",
        "falsy",
        *("None", "''", "0", "0.0", "False", "[]", "{}", "set()", "frozenset()", "b''"),
    ),
)

_NUMBERS = (
    chosen("scalar", "float", "<n>.5", "-<n>.25", "<n>.0", "<n>.1"),
    chosen(
        "scalar",
        "integer-edge",
        *("-(2**63)", "2**63 - 1", "2**63", "2**64 - 1", "-(2**31) - 1", "2**32", "2**53 + 1"),
    ),
    chosen(
        "scalar",
        "float-edge",
        *("-0.0", "1e16", "1e22", "5e-324", "1.7976931348623157e308", "0.1 + 0.2", "-1e16"),
    ),
    chosen(
        "scalar",
        "decimal",
        *("Decimal('0.10')", "Decimal('1E+30')", "Decimal('-0')", "Decimal('<n>')"),
        imports=("from decimal import Decimal",),
    ),
)

_TEXTS = (
    chosen(
        "scalar",
        "unicode-text",
        *(
            "'\\U0001f9ff astral \\U00010348'",
            "'e\\u0301 is not \\u00e9'",
            "'\\u0131\\u0130\\u00df'",
        ),
        *("'\\u202eright to left'", "'\\ufeffbom'", "'\\u2028line'", "'\\U0010ffff'"),
    ),
    chosen(
        "scalar",
        "escaped-text",
        *("'it\\'s \"quoted\"'", "'back\\\\slash \\\\u0041'", "'line\\nand\\r\\ntab\\t'"),
        *("'%s %d {} $1 ?'", "' padded '", "'\\x7f\\x1b'", "'null'", "'1'", "'{\"a\": 1}'"),
    ),
    chosen(
        "scalar",
        "bytes",
        *("b'bytes <n>'", "bytes(range(256))", "b'\\x00\\xff\\xfe'", "b'\\xc3\\x28'"),
    ),
    chosen(
        "scalar",
        "telling-text",
        *("'2024-02-29'", "'2024-02-29T12:30:59+00:00'", "'true'", "'1e5'", "'[1]'"),
        "'6a1f0c1e-3f41-5d7e-9a37-0d2f4c9e1b55'",
    ),
    chosen("scalar", "padded-bytes", *("b'ends\\x00\\x00'", "b'\\r\\n\\x1a'", "b'[1]'", "b' a '")),
)

_TIMES = (
    chosen(
        "scalar",
        "datetime",
        "datetime(2024, 2, 29, 12, 30, 59, 123456)",
        "datetime(2024, 2, 29, 12, 30, tzinfo=timezone.utc)",
        "datetime(1969, 12, 31, 23, 59, tzinfo=timezone(timedelta(hours=5, minutes=30)))",
        "datetime(1, 1, 1)",
        "datetime(9999, 12, 31, 23, 59, 59, 999999)",
        imports=("from datetime import datetime, timedelta, timezone",),
    ),
    chosen(
        "scalar",
        "zoned-datetime",
        "datetime(2024, 7, 1, 12, tzinfo=ZoneInfo('Europe/Berlin'))",
        "datetime(2024, 1, 1, 12, tzinfo=ZoneInfo('America/New_York'))",
        imports=("from datetime import datetime", "from zoneinfo import ZoneInfo"),
    ),
    chosen(
        "scalar",
        "date",
        *("date(2024, 2, 29)", "date(1, 1, 1)", "date(9999, 12, 31)"),
        imports=("from datetime import date",),
    ),
    chosen(
        "scalar",
        "time",
        *("time(23, 59, 59, 999999)", "time(0, 0)", "time(12, 30, tzinfo=timezone.utc)"),
        imports=("from datetime import time, timezone",),
    ),
    chosen(
        "scalar",
        "timedelta",
        *("timedelta(days=-1, microseconds=1)", "timedelta(days=<n>)", "timedelta(0)"),
        imports=("from datetime import timedelta",),
    ),
)

_SCALARS = (
    chosen("scalar", "uuid", "UUID(int=<n>)", imports=("from uuid import UUID",)),
    chosen(
        "scalar",
        "enum",
        *("SafeUUID.safe", "SafeUUID.unknown"),
        imports=("from uuid import SafeUUID",),
    ),
    chosen(
        "scalar",
        "integer-enum",
        *("HTTPStatus.OK", "HTTPStatus.NOT_FOUND"),
        imports=("from http import HTTPStatus",),
    ),
    chosen(
        "scalar",
        "text-enum",
        *("HTTPMethod.GET", "HTTPMethod.DELETE"),
        imports=("from http import HTTPMethod",),
    ),
    chosen(
        "scalar",
        "path",
        *("Path('/tmp/a b/<n>.txt')", "Path('relative/<n>')"),
        imports=("from pathlib import Path",),
    ),
    chosen(
        "scalar",
        "regex",
        *("re.compile('a(b|c)*<n>')", "re.compile('^<n>$', re.IGNORECASE | re.MULTILINE)"),
        imports=("import re",),
    ),
    chosen(
        "scalar",
        "ip-address",
        *("IPv4Address('192.0.2.1')", "IPv6Address('2001:db8::1')", "IPv4Network('10.0.0.0/8')"),
        imports=("from ipaddress import IPv4Address, IPv4Network, IPv6Address",),
    ),
)

_CONTAINERS = (
    chosen("container", "list", "[<n>]", "[<n>, None, 'a', [1.5]]", "[[], [<n>], {}]"),
    chosen(
        "container",
        "dict",
        "{'n': <n>}",
        "{'b': <n>, 'a': {'b': [1, {'c': None}]}}",
        "{'': <n>, 'a.b': 0, '$x': False, '\"': ''}",
    ),
    chosen(
        "container",
        "integer-keys",
        "{<n>: 'a', -1: 'b'}",
        "{1: <n>, '1': 'text'}",
        "{'inner': {2**40: <n>}}",
    ),
    chosen("container", "set", "{<n>, 'a', None}", "{<n>, b'', 1.5}"),
    chosen("container", "frozenset", "frozenset({<n>})", "frozenset({'a', <n>})"),
    chosen(
        "container",
        "deque",
        *("deque([<n>])", "deque([3, <n>, 1])"),
        imports=("from collections import deque",),
    ),
    chosen("container", "bytearray-inside", "[bytearray(b'<n>')]", "{'a': bytearray(b'<n>')}"),
    chosen(
        "container",
        "nested",
        "[{'a': [{'b': {<n>, 1}}]}, b'x']",
        "{'a': {'b': {'c': {'d': {'e': [[[[<n>]]]]}}}}}",
        "{'when': datetime(2024, 1, 1, <n> % 24), 'list': [UUID(int=<n>), Decimal('1.10')]}",
        imports=(
            "from datetime import datetime",
            "from decimal import Decimal",
            "from uuid import UUID",
        ),
    ),
)

_WIDE = (
    chosen("wide", "long-list", "[*range(<n>, <n> + 1_100)]"),
    chosen("wide", "long-dict", "{f'key {n}': n for n in range(1_100 + <n>)}"),
    chosen(
        "wide",
        "deep-list",
        "reduce(lambda inner, _: [inner], range(60), <n>)",
        "reduce(lambda inner, _: {'in': inner}, range(60), <n>)",
        imports=("from functools import reduce",),
    ),
)

_GROWING = "b'/'.join(bytes(range(256)) * n for n in range({}))"
_SPECIAL = (
    # No two parts are alike, so that pieces in a wrong order show.
    chosen(
        "large",
        "large-text",
        "'<n> ' + ' '.join('x' * n for n in range(1_450))",
        "'<n> ' + '\\u00e9'.join('\\n' * n for n in range(1_450))",
    ),
    chosen("large", "large-bytes", f"b'<n> ' + {_GROWING.format(92)}"),
    chosen("medium", "medium-text", "'<n> ' + ' '.join('x' * n for n in range(364))"),
    chosen("medium", "medium-bytes", f"b'<n> ' + {_GROWING.format(24)}"),
    chosen("huge", "huge-text", "'<n> ' + ' '.join('x' * n for n in range(5_800))"),
    chosen("non-finite", "non-finite", "float('inf')", "float('-inf')", "float('nan')"),
    chosen("nul", "nul-text", "'a\\x00b'", "'\\x00'", "'a\\x00'", "{'key': '\\x00<n>'}"),
    chosen(
        "exception",
        "exception",
        *("ValueError('failed <n>')", "KeyError('<n>')", "RuntimeError('<n>', 2)"),
    ),
    chosen(
        "unserializable",
        "unserializable",
        # Running things cannot be stored: pickle and the like take objects, functions, even locks.
        *("(n for n in range(<n>))", "sys._getframe()", "{'fine': 1, 'not': [(n for n in ())]}"),
        imports=("import sys",),
    ),
)

CATALOGUE: Mapping[str, Kind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            *_PLAIN,
            *_NUMBERS,
            *_TEXTS,
            *_TIMES,
            *_SCALARS,
            *_CONTAINERS,
            *OBJECTS,
            *MESSAGES,
            *HOLDING,
            *PACKED,
            *_WIDE,
            *_SPECIAL,
            *NEARLY_ALIKE,
        )
    }
)
"""The kinds of values by name.

Values of the groups plain, falsy, scalar, container, object, message, wide, medium, large and huge
come back through every saver whose serializer keeps them. Non-finite and nul values are judged by
contracts of their own. Exceptions are for pending writes only. Unserializable values must be
refused.
"""

GROUPS: tuple[str, ...] = tuple(dict.fromkeys(kind.group for kind in CATALOGUE.values()))


def kinds(*groups: str) -> tuple[Kind, ...]:
    """Return the kinds of these groups, in the order of the catalogue.

    Raises:
        ValueError: a group does not exist; the message names the known ones.
    """
    for group in groups:
        if group not in GROUPS:
            raise ValueError(f"no group of values {group!r}; known: {', '.join(GROUPS)}")
    return tuple(kind for kind in CATALOGUE.values() if kind.group in groups)
