"""Each wrong saver does what its note says: something else than the reference saver does."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from saverproof.contracts import contracts
from saverproof.mistakes import leaving
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import ReferenceStore
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers import WRONG, WrongSaver
from tests.wrong_savers.scenes.everything import SCENES
from tests.wrong_savers.scenes.probe import Probe


def answers(saver: Any, contract: str, api: str, folder: Path, *, setup: bool = True) -> Any:
    """Return what the contract's scene gives for a saver class."""

    def open_at(path: Path) -> Any:
        path.mkdir(parents=True, exist_ok=True)
        instance = saver.at(path)
        if setup:
            instance.setup()
        return instance

    probe = Probe(open_at, folder, api)
    try:
        return SCENES[contract](probe)
    finally:
        probe.attempt(probe.saver.close)
        ReferenceStore.forget(folder)


@cache
def expected(reference: Any, contract: str, api: str) -> Any:
    """Return what the contract's scene gives for a reference saver."""
    with TemporaryDirectory() as folder:
        return answers(reference, contract, api, Path(folder) / "saver")


FUNCTIONAL = [
    wrong
    for wrong in WRONG
    if wrong.breaks.split("/")[0]
    not in {
        "atomicity",
        "durability",
        "concurrency",
        "expiry",
        "graph",
        "cost",
        "resources",
        "upgrade",
    }
]


@pytest.fixture(autouse=True)
def no_close_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A close that would wait for ever raises instead."""

    def wait(seconds: float) -> None:
        raise TimeoutError

    monkeypatch.setattr(leaving, "sleep", wait)


@pytest.mark.parametrize("wrong", FUNCTIONAL, ids=lambda wrong: wrong.name)
def test_a_wrong_saver_answers_otherwise_than_the_reference(
    wrong: WrongSaver, tmp_path: Path
) -> None:
    on_a_file = issubclass(wrong.saver, SqliteReference)
    reference = SqliteReference if on_a_file else ReferenceSaver
    for api in wrong.apis:
        folder = tmp_path / api / "saver"
        found = answers(wrong.saver, wrong.breaks, api, folder, setup=wrong.setup)
        assert found != expected(reference, wrong.breaks, api)


def test_every_contract_has_a_wrong_saver_and_every_blame_is_a_contract() -> None:
    known = {entry.id for entry in contracts()}
    assert known - {wrong.breaks for wrong in WRONG} == set()
    assert {id for wrong in WRONG for id in (wrong.breaks, *wrong.also)} - known == set()
