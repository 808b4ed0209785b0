"""The table of what savers cost has all that it should; `make costs` judges them."""

from __future__ import annotations

from tests.docs.costs import MARKED, MUST, PAGE, SAVERS, WORDS, columns_of, table

from saverproof.contracts.registry import contracts

TEXT = PAGE.read_text("utf-8")


def test_each_saver_was_judged_by_each_contract() -> None:
    columns = columns_of(TEXT)
    ids = [contract.id for contract in contracts("cost")]
    assert {name: list(column) for name, column in columns.items()} == dict.fromkeys(SAVERS, ids)
    told = {word for column in columns.values() for word in column.values()}
    assert told <= {MUST, *WORDS.values()}


def test_a_column_is_written_anew_and_the_others_stay() -> None:
    found = MARKED.search(TEXT)
    assert found is not None
    columns = columns_of(TEXT)
    assert table(columns) == found[0]
    changed = table({**columns, "lmdb": dict.fromkeys(columns["lmdb"], "?")})
    assert columns_of(f"<!-- costs -->\n{changed}<!-- end of costs -->") == {
        **columns,
        "lmdb": dict.fromkeys(columns["lmdb"], "?"),
    }
