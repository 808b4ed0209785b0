"""Scenes of the family isolation, and of files."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from tests.wrong_savers.scenes import scene
from tests.wrong_savers.scenes.probe import Probe
from tests.wrong_savers.scenes.threads import everything

HOSTILE = (
    *("a", "A", "a ", " a", "007", "7", "\u00e9", "e\u0301", "a%", "a_", "ab", "a*", "a?b", "a[b]"),
    *("a'b", "a''b", "a/../b", "a/b", "a\0b", "a:b", "a|b", "../a", "a\0", "b"),
)


@scene("isolation/threads")
def the_same_ids_in_two_threads(p: Probe) -> Any:
    p.put(1, values={"x": "a1"})
    p.put(2, parent=1, values={"x": "a2"})
    p.write(1, [("x", "a")])
    p.put(1, thread="b", values={"x": "b1"})
    p.put(7, thread="c", values={"x": "c7"})
    p.put(1, values={"x": "a1"}, metadata={"step": 5})
    got = [p.id_of("b", "", 2), p.id_of("b"), p.id_of("a"), p.id_of("a", "", 7)]
    return got, everything(p, "a", "b"), p.places(p.config("b", "", 2)), p.pending("a", "", 1)


@scene("isolation/namespaces")
def two_namespaces(p: Probe) -> Any:
    p.put(1, values={"x": "root"})
    p.write(1, [("x", "a")])
    p.put(2, ns="n", values={"x": "n"})
    got = p.id_of(), p.id_of("a", "n"), p.id_of("a", "never"), p.id_of("a", "n", 1)
    return got, p.held(), p.held("a", "n"), p.pending("a", "", 1)


@scene("isolation/same-id-in-namespaces")
def the_same_ids_in_two_namespaces(p: Probe) -> Any:
    p.put(1, values={"x": "root"})
    p.put(2, parent=1, values={"x": "root"})
    p.put(1, ns="n", values={"x": "n"})
    p.put(1, ns="n:1", values={"x": "n1"})
    p.write(1, [("x", "root")])
    p.put(1, values={"x": "root"}, metadata={"step": 5})
    got = [
        p.id_of("a", "n"),
        p.id_of(),
        p.held("a", "", 1),
        p.pending("a", "n", 1),
    ]
    return got, everything(p, "a"), [p.places(p.config("a", ns)) for ns in ("", "n", "n:1")]


NESTED = (
    *("n", "m", "n:t1", "n:t2", "n:t1|m:t1", "n:t1|m:t2", "n:t1|1", "o:t1|m:t1", "n:t1|2"),
    *("", "checkpoints", "default"),
)


@scene("isolation/nested-namespaces")
def namespaces_of_subgraphs(p: Probe) -> Any:
    long = "n:11111111-2222-3333-4444-555555555555|m:11111111-2222-3333-4444-"
    nested = (*NESTED, long + "0", long + "1")
    answers = [p.put(1, ns=ns, values={"x": ns}) for ns in nested]
    held = [p.held("a", ns) for ns in nested]
    return [isinstance(a, str) for a in answers], held, [p.places(p.config("a", n)) for n in nested]


@scene("isolation/hostile-identifiers")
def threads_that_look_alike(p: Probe) -> Any:
    for thread in HOSTILE:
        p.put(1, thread=thread, values={"x": thread})
    for thread, ns in (("k:l", "m"), ("k", "l:m"), ("k.l", "m"), ("k", "l.m")):
        p.put(1, thread=thread, ns=ns, values={"x": thread})
    for thread in ("t" * 70 + "1", "t" * 70 + "2"):
        p.put(1, thread=thread, values={"x": thread})
    namespaces = (*HOSTILE, "", "__empty__")
    for ns in namespaces:
        p.put(1, thread="n", ns=ns, values={"x": ns})
    before = [p.held(thread) for thread in HOSTILE], p.held("k:l", "m"), p.held("k", "l:m")
    nested = [(p.held("n", ns), p.places(p.config("n", ns))) for ns in namespaces]
    listed = [p.places(p.config(thread)) for thread in HOSTILE]
    before = before, p.held("k.l", "m"), p.held("t" * 70 + "1")
    p.put(1, thread="pq")
    p.put(2, thread="pq", parent=1)
    p.attempt(lambda: p.call("prune", ["p"], strategy="keep_latest"))
    listed.append(p.places(p.config("pq")))
    for thread in ("a%", "a_", "a*", "A"):
        p.delete(thread)
    return before, nested, listed, [p.held(thread) for thread in HOSTILE]


@scene("isolation/hostile-filter-keys")
def filters_that_look_like_sql(p: Probe) -> Any:
    p.put(1, metadata={"kind": "k"})
    keys = (
        "x') = 1 OR 1=1 OR json_extract(metadata, '$.y",
        "it's",
        "ki'nd",
        'ki"nd',
        "kind[0]",
        "kind; DROP TABLE x",
        "ki nd",
    )
    found = [p.ids(p.config(), filter={key: "k"}) for key in keys]
    return [[] if isinstance(ids, str) else ids for ids in found], p.ids(p.config())


@scene("isolation/private-files")
def modes_of_files(p: Probe) -> Any:
    p.put(1, values={"x": 1})
    files = [file for file in p.path.rglob("*") if file.is_file()]
    return sorted(file.name for file in files if file.stat().st_mode & 0o077)


@scene("serialization/encrypted-at-rest")
def secrets_in_files(p: Probe) -> Any:
    p.saver.serde = EncryptedSerializer.from_pycryptodome_aes(key=b"k" * 16)
    secrets = ("secret text", b"secret bytes", {"key": "secret inside"})
    for number, secret in enumerate(secrets, 1):
        p.put(number, values={"x": secret})
        p.write(number, [("x", secret)])
    held = [(p.held("a", "", number), p.pending("a", "", number)) for number in (1, 2, 3)]
    return held, [file.name for file in p.path.rglob("*") if b"secret" in file.read_bytes()]


@scene("isolation/workspaces")
def another_workspace(p: Probe) -> Any:
    p.put(1, values={"x": 1})
    other = p.elsewhere()
    return [p.number(other.tuple("a", "", 1)), other.ids(None)]
