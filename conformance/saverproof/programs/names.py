"""Identifiers that users, graphs and attackers bring."""

from __future__ import annotations

NESTED_NAMESPACES = (
    "",
    "child",
    "child:6a1f0c1e-3f41-5d7e-9a37-0d2f4c9e1b55",
    "child:6a1f0c1e-3f41-5d7e-9a37-0d2f4c9e1b55|inner:0b7c9d42-88a5-5c1f-8e0a-5f3d2c1b0a99",
    "child:6a1f0c1e-3f41-5d7e-9a37-0d2f4c9e1b55|1",
    "children",
)

HOSTILE_THREADS = (
    "a",
    "A",
    "a ",
    " a",
    "7",
    "07",
    "7.0",
    "caf\u00e9",
    "cafe\u0301",
    "a%",
    "a_",
    "ab",
    "a*",
    "a?",
    "a[b]",
    "a:b",
    "a|b",
    "a/b",
    "a\\b",
    "../a",
    "a'",
    "a''",
    'a"',
    "a;--",
    "' OR '1'='1",
    "a,b",
    "{a}",
    "a\tb",
    "a\n",
    "a\0b",
    "a\0",
    "\U0001f916",
    "null",
    "None",
    "-1",
    "1e3",
)

HOSTILE_FILTERS = (
    {"sour'ce": "loop"},
    {'sour"ce': "loop"},
    {"source') OR ('1'='1": "loop"},
    {"source') = 'x' OR 1=1 --": "loop"},
    {"$.source": "loop"},
    {"source[0]": "loop"},
    {"source]": "loop"},
    {"'; DELETE FROM checkpoints; --": "loop"},
    {"%": "loop"},
    {"*": "loop"},
    {"so urce": "loop"},
    {"": "loop"},
)

ODD_CHANNELS = (
    "count",
    "branch:to:agent",
    "a.b",
    "with space",
    "it's",
    'say "hi"',
    "back\\slash",
    "caf\u00e9",
    "\U0001f916",
    "__start__",
    "semi;colon",
    "100%",
    "$.x[0]",
    "Count",
)

ODD_NODES = (
    "agent",
    "my node",
    "it's",
    'say "hi"',
    "n\u00f8de",
    "\U0001f916",
    "a.b",
    "back\\slash",
)

ODD_PATHS = (
    "",
    "~__pregel_pull, agent",
    "~__pregel_pull, my node",
    "~__pregel_pull, it's",
    '~__pregel_pull, say "hi"',
    "~__pregel_pull, n\u00f8de",
    "~__pregel_push, 0000000001, \U0001f916",
    "~__pregel_pull, back\\slash",
)
