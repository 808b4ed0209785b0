"""Where a reader of a report can read on about a promise."""

from importlib.metadata import files

import pytest

from saverproof.contracts.links import link_of
from saverproof.contracts.registry import contracts

BLOB = "https://github.com/langchain-ai/langgraph/blob/main/libs/"


@pytest.mark.parametrize(
    ("source", "link"),
    [
        (
            "`langgraph.checkpoint.base.Checkpoint`",
            "checkpoint/langgraph/checkpoint/base/__init__.py",
        ),
        (
            "advice; `langgraph.pregel._loop.PregelLoop._first`",
            "langgraph/langgraph/pregel/_loop.py",
        ),
        ("`langgraph.gone.Thing`; `langgraph.types.Durability`", "langgraph/langgraph/types.py"),
    ],
)
def test_a_name_leads_to_its_file(source: str, link: str) -> None:
    assert link_of(source) == BLOB + link


@pytest.mark.parametrize(
    ("source", "link"),
    [
        (
            "issue langchain-ai/langgraph#8942",
            "https://github.com/langchain-ai/langgraph/issues/8942",
        ),
        ("CVE-1 (GHSA-9rwj-6rc7-p77c)", "https://github.com/advisories/GHSA-9rwj-6rc7-p77c"),
        ("advice; https://sqlite.org/a.html#b for SQLite", "https://sqlite.org/a.html#b"),
        ("saverproof: a service restarts by itself", None),
    ],
)
def test_what_else_a_source_may_name(source: str, link: str | None) -> None:
    assert link_of(source) == link


def test_every_linked_file_is_one_of_langgraphs() -> None:
    known = {
        str(path)
        for name in ("langgraph", "langgraph-checkpoint", "langgraph-checkpoint-sqlite")
        for path in files(name) or ()
    }
    for contract in contracts():
        link = link_of(contract.source) or ""
        if link.startswith(BLOB) and "conformance" not in link:
            assert link.removeprefix(BLOB).partition("/")[2] in known
