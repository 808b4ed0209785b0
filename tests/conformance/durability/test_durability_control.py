"""Nothing is blamed on a kill that another process is shown without one.

By night, a saver that keeps its first answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.durability.test_durability import judged
from tests.reference.sqlite import SqliteReference

from saverproof import Workspace, target
from saverproof.families.durability.graphs.graph_kills import NO_RERUN, RESUME
from saverproof.families.durability.kills.control import is_behind, up_to_date
from saverproof.families.durability.kills.record import KILLED
from saverproof.programs.steps.definitions import DeleteThread, Put, Step
from saverproof.savers.execution.view import ShownFacts

FIRST: ShownFacts = {"latest": "1", "checkpoint 1": "a"}
SECOND: ShownFacts = {"latest": "2", "checkpoint 1": "a", "checkpoint 2": "b"}
STALE: ShownFacts = {**SECOND, "latest": "1"}


PUT, DELETE = Put("a", "", 1), DeleteThread("a")


@pytest.mark.parametrize(
    ("program", "own", "elsewhere", "expected"),
    [
        pytest.param([PUT], [{}, FIRST], [{}, FIRST], [{}, FIRST], id="both are shown the same"),
        pytest.param(
            [PUT], [{}, {**FIRST, "latest": "null"}], [{}, FIRST], [{}, FIRST], id="nothing is kept"
        ),
        pytest.param(
            [PUT, PUT],
            [{}, FIRST, STALE],
            [{}, FIRST, SECOND],
            [{}, FIRST, SECOND],
            id="the first is kept",
        ),
        pytest.param(
            [PUT, PUT, PUT],
            [{}, FIRST, SECOND, SECOND],
            [{}, FIRST, SECOND, {**SECOND, "latest": "3"}],
            [{}, FIRST, SECOND, {**SECOND, "latest": "3"}],
            id="it is one behind",
        ),
        pytest.param(
            [PUT, DELETE], [{}, FIRST, FIRST], [{}, FIRST, {}], [{}, FIRST, {}], id="a ghost"
        ),
        pytest.param([PUT], [{}, FIRST], [{}, {}], [{}, FIRST], id="what is put is not stored"),
        pytest.param(
            [PUT, DELETE],
            [{}, FIRST, {}],
            [{}, FIRST, FIRST],
            [{}, FIRST, {}],
            id="a deletion is not stored",
        ),
        pytest.param(
            [PUT, PUT],
            [{}, FIRST, {**FIRST, "checkpoint 1": "b"}],
            [{}, FIRST, FIRST],
            [{}, FIRST, {**FIRST, "checkpoint 1": "b"}],
            id="a change is not stored",
        ),
        pytest.param(
            [PUT, PUT],
            [{}, FIRST, SECOND],
            [{}, FIRST, {}],
            [{}, FIRST, SECOND],
            id="by chance all is lost when it is closed",
        ),
        pytest.param(
            [PUT, PUT, PUT],
            [{}, FIRST, SECOND, SECOND],
            [{}, FIRST, SECOND, FIRST],
            [{}, FIRST, SECOND, SECOND],
            id="by chance the last is lost when it is closed",
        ),
    ],
)
def test_only_what_a_saver_shows_of_the_past_is_taken_from_others(
    program: list[Step], own: list[ShownFacts], elsewhere: list[ShownFacts], expected: list[Any]
) -> None:
    assert [*up_to_date(tuple(program), own, elsewhere)] == expected


def test_an_older_latest_is_behind() -> None:
    assert is_behind(None, "1")
    assert is_behind("1", "2")
    assert not is_behind("2", "1")
    assert not is_behind("1", None)


class KeepsItsFirstAnswer(SqliteReference):
    """Whatever was the latest when it was first asked, it is for ever."""

    def get_tuple(self, config: Any) -> Any:
        if self._asked_id(config) is not None:
            return super().get_tuple(config)
        answers: dict[Any, Any] = self.__dict__.setdefault("answers", {})
        key = (self._thread_of(config), self._get_ns(config))
        if key not in answers:
            answers[key] = super().get_tuple(config)
        return answers[key]


@target(name="keeps-its-first-answer")
@contextmanager
def keeps_its_first_answer(workspace: Workspace) -> Iterator[Any]:
    """Open one."""
    with closing(KeepsItsFirstAnswer.at(workspace.path)) as saver:
        yield saver


@pytest.mark.nightly
def test_a_saver_that_keeps_its_first_answer_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = f"{__name__}:keeps_its_first_answer"
    effort = {"swept": 30, "beside": 2, "images": 20, "graphs": 6}
    outcome = judged(where, tmp_path, monkeypatch, **effort)
    assert not outcome.findings
    assert set(KILLED) <= outcome.checked.keys()
    assert outcome.unknown.keys() == {RESUME, NO_RERUN}
    assert "and another process " in outcome.unknown[RESUME]
    # Nobody has said yet why: the run fails.
    assert outcome.hidden_by[RESUME] == ()


class LeavesWritesBehind(SqliteReference):
    """A deletion takes the checkpoints alone, whether it is killed or not."""

    def _delete(self, thread: str) -> None:
        self.database.run("DELETE FROM checkpoints WHERE thread = ?", thread)


@target(name="leaves-writes-behind")
@contextmanager
def leaves_writes_behind(workspace: Workspace) -> Iterator[Any]:
    """Open one."""
    with closing(LeavesWritesBehind.at(workspace.path)) as saver:
        yield saver


def test_what_a_deletion_leaves_that_nobody_kills_is_not_blamed_on_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = f"{__name__}:leaves_writes_behind"
    outcome = judged(where, tmp_path, monkeypatch, swept=40)
    assert not outcome.findings
    assert set(KILLED) <= outcome.checked.keys()
