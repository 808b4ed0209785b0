"""Contracts are gated by the installed langgraph-checkpoint."""

from importlib.metadata import version

from saverproof.contracts import Level, contract, release


def test_the_order_of_writes_is_advice_before_the_base_class_promises_it() -> None:
    installed = version("langgraph-checkpoint")
    promised = release(installed) >= release("4.3")
    expected = Level.MUST if promised else Level.SHOULD
    assert contract("ordering/writes-sorted").level_at(installed) is expected


def test_delta_history_is_not_asked_of_versions_without_it() -> None:
    installed = version("langgraph-checkpoint")
    applies = contract("delta-history/matches-walk").level_at(installed) is not None
    assert applies == (release(installed) >= release("4.1"))
