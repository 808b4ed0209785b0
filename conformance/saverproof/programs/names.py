"""Names of threads and namespaces as users, graphs and attackers choose them."""

from __future__ import annotations

from saverproof.programs.theme import NameSet

_TASK = "6a1f0c1e-3f41-5d7e-9a37-0d2f4c9e1b55"
_OTHER_TASK = "6a1f0c1e-3f41-5d7e-9a37-0d2f4c9e1b56"
_INNER_TASK = "0b7c9d42-88a5-5c1f-8e0a-5f3d2c1b0a99"

NESTED = (
    # A subgraph, another run of it, what runs inside it, and a second call in one task.
    NameSet(
        ("a",),
        (
            "",
            f"child:{_TASK}",
            f"child:{_OTHER_TASK}",
            f"child:{_TASK}|inner:{_INNER_TASK}",
            f"child:{_TASK}|1",
        ),
    ),
    # Subgraphs that keep their state are named by their nodes alone.
    NameSet(("a",), ("", "child", "child|inner", "other|inner", "inner")),
    NameSet(("a",), ("", "child", "children", "child_2", f"child:{_TASK}")),
    # Nodes named like the folders, tables or keys that a saver may have beside a namespace.
    NameSet(("a",), ("", "checkpoints", "writes", "blobs", "latest")),
    # Nodes named like what a saver may call the root.
    NameSet(("a",), ("", "default", "root", "main")),
)
"""Namespaces of forms that LangGraph makes, which a saver may take for one another."""

HOSTILE = (
    NameSet(("a", "A", "\u00e4", "\u00c4")),
    NameSet(("a", "a ", " a", "a\n", "a\tb")),
    NameSet(("7", "07", "7.0", "+7")),
    NameSet(("-1", "1e3", "1000", "null", "None")),
    NameSet(("caf\u00e9", "cafe\u0301", "cafe")),
    NameSet(("a", "a%", "ab", "a_")),
    NameSet(("a", "a*", "ab", "a?", "a[b]")),
    NameSet(("a", "../a", "./a", "b/../a", "a/", "a\\b")),
    NameSet(("a", "a'", "a''", 'a"', "a;--", "' OR '1'='1")),
    NameSet(("a", "a\0b", "a\0")),
    NameSet(("a", "\U0001f916", "{a}", "a,b", "a|b", "a/b")),
    # Thread and namespace joined by a separator give the same text.
    *(
        NameSet(("a", f"a{sign}x"), ("", "y", f"x{sign}y"))
        for sign in (":", "|", "/", ",", "-", "_", "#", "$", "::", "\x1f")
    ),
    # Ids as applications make them: UUIDs, a part of one, other spellings, nested threads.
    NameSet(
        (
            *(_TASK, _TASK.upper(), _TASK.replace("-", ""), _TASK[:8], f"{{{_TASK}}}"),
            *(f"{_TASK}:1", f"{_TASK}:10", f"{_TASK}/{_OTHER_TASK}"),
        )
    ),
    # Texts longer than a short text column, which differ only at the end.
    NameSet(("a" * 300 + "b", "a" * 300 + "c", "a" * 255)),
)
"""Thread ids, some with namespaces, that a saver may take for one another."""

JOINING = (
    *("", " ", ".", ";", "=", "+", "@", "~", "%", "!", "&", "?", "*", "(", "\\", "\t", "\n", "\0"),
    *("__", "--", "->", "//", "||", "##", "%3A", "\x1e", "\u2063"),
)
"""Texts that a saver may put between thread and namespace in a key, besides those above."""

HOSTILE_NAMESPACES = (
    NameSet(("a",), ("", "child", "Child", "CHILD")),
    NameSet(("a",), ("", "caf\u00e9", "cafe\u0301", "cafe")),
    NameSet(("a",), ("", "child", "chi_d", "ch%", "chi*", "chi?d", "chil[d]")),
    NameSet(("a",), ("", "child", "child ", " child")),
    NameSet(("a",), ("", "its", "it's", 'say "it"', "its;--")),
    NameSet(("a",), ("", "child", "./child", "../child", "child/", "a\\b", "a/child")),
    NameSet(("a",), ("", "7", "07", "7.0")),
    NameSet(("a",), ("", "a" * 300 + "b", "a" * 300 + "c")),
    NameSet(("a",), ("", "__default__", "__empty__", "__root__", "_", "-")),
)
"""Namespaces of nodes whose names a saver may take for one another."""

HOSTILE_FILTERS = (
    {"sour'ce": "loop"},
    {'sour"ce': "loop"},
    {"source') OR ('1'='1": "loop"},
    {"source') = 'x' OR 1=1 --": "loop"},
    {"source') OR 1=1 OR ('": "loop"},
    {"source\"') OR 1=1 OR ('": "loop"},
    {"source' IS NULL OR 'loop": "loop"},
    {"$.source": "loop"},
    {"source[0]": "loop"},
    {"source]": "loop"},
    {"'; DELETE FROM checkpoints; --": "loop"},
    {"%": "loop"},
    {"*": "loop"},
    {"so urce": "loop"},
    {"so\u00fcrce": "loop"},
    {"source/": "loop"},
    {"back\\slash": "loop"},
    {"": "loop"},
)

ODD_CHANNELS = (
    "count",
    "branch:to:agent",
    "branch:to",
    "a.b",
    "a",
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
    "count ",
    " count",
    "cafe\u0301",
    "7",
    "07",
    "../count",
    "c*t",
    "c" * 70 + "1",
    "c" * 70 + "2",
    "c" * 300 + "1",
    "c" * 300 + "2",
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
    "agent ",
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
