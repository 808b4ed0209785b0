"""Known mistakes, put together, predict what a saver shows; what they do not predict is no held
contract.

By day what is predicted, and how mistakes are chosen; by night, more of both.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, facts_of, plan_of
from tests.conformance.mistake_programs import facts_shown

from saverproof.contracts.tables import ordering, pending_writes, upsert
from saverproof.families.items import Outcome
from saverproof.families.machines.explaining.composing import composed, lacks_paths, versions_like
from saverproof.families.machines.explaining.diagnosis import Diagnosis
from saverproof.families.machines.explaining.prediction import Predictor, compare
from saverproof.families.machines.explaining.search import ProgramSearch
from saverproof.families.machines.explaining.trials import ProgramRun, Trials
from saverproof.families.registry import judged
from saverproof.judging.scenes import RefuseValue
from saverproof.mistakes import MISTAKES, Mistake
from saverproof.mistakes.programs import programs, shown
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow
from saverproof.mistakes.registry import opener
from saverproof.programs.steps.codec import from_json
from saverproof.programs.steps.definitions import DeleteForRuns, GetTuple, Program, Put, PutWrites
from saverproof.programs.values import Value
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.target import Target
from saverproof.savers.workspace import Workspace
from saverproof_savers import targets

BY_NAME = {mistake.name: mistake for mistake in MISTAKES}
ARRIVAL, REPLACED = BY_NAME["writes-by-insertion"], BY_NAME["regular-write-replaced"]
TWO = ("writes-by-insertion", "regular-write-replaced")


def batch(task: int, *writes: tuple[str, int]) -> PutWrites:
    """A batch on checkpoint 1 of thread ``a``."""
    return PutWrites("a", "", 1, task, tuple((name, Value("integer", n)) for name, n in writes))


PUT = Put("a", "", 1)
AGAIN: Program = (PUT, batch(1, ("messages", 1)), batch(1, ("messages", 2)))


def put_value(number: int) -> Put:
    """A checkpoint without a parent, whose value is its number."""
    return Put("a", "", number, changes=(("messages", Value("integer", number)),))


class CountsInIntegers(ReferenceSaver):
    """Counts versions as LangGraph's base class does, and keeps each checkpoint's own values."""

    def get_next_version(self, current: Any, channel: None) -> Any:
        return BaseCheckpointSaver.get_next_version(self, current, channel)

    def _value_key(self, row: CheckpointRow, channel: str, version: Any) -> Hashable:
        return row.id, channel


class ForgetsTheThirdTask(ReferenceSaver):
    """A mistake that nobody knows: a checkpoint has room for the writes of two tasks."""

    def _store_batch(self, shelf: Any, checkpoint_id: str, rows: list[Any]) -> None:
        tasks = {row.task_id for row in shelf.writes.get(checkpoint_id, {}).values()}
        room = len(tasks | {row.task_id for row in rows}) <= 2
        super()._store_batch(shelf, checkpoint_id, rows if room else [])


@dataclass
class Bench:
    """Trials of a saver, and what predicts them."""

    trials: Trials

    def replay(self, program: Program) -> ProgramRun:
        return self.trials.replay(program)

    @property
    def diagnosis(self) -> Diagnosis:
        return Diagnosis(Predictor(self.trials), lambda _: True)


@pytest.fixture
def loop() -> Iterator[EventLoop]:
    with EventLoop() as running:
        yield running


def bench_of(saver: Any, loop: EventLoop, folder: Path) -> Bench:
    target = Target(name="wrong", open=opener(saver))
    return Bench(Trials(target, folder, loop, ("sync",)))


def both(*names: str) -> type[ReferenceSaver]:
    """One saver class with these mistakes."""
    saver = composed(BY_NAME[name].saver for name in names)
    assert saver is not None
    return saver


def outcome_of(saver: Any, family: str, folder: Path) -> Outcome:
    target = Target(name="wrong", open=opener(saver))
    facts = facts_from(EVERY_OPERATION)
    return judged(plan_of(target, family, "sync", folder, facts=facts), target)


def outcome_of_memory(family: str, folder: Path, api: str = "sync") -> Outcome:
    """What a family finds of LangGraph's own saver in memory."""

    @contextmanager
    def opened(_: Workspace) -> Iterator[InMemorySaver]:
        yield InMemorySaver()

    target = Target(name="memory", open=opened, durable=False)
    return judged(plan_of(target, family, api, folder, facts=facts_of(target, folder)), target)


@pytest.mark.nightly
def test_what_a_finding_is_about_is_not_left_to_the_contract_of_its_mistake(tmp_path: Path) -> None:
    # A mistake in the order of a thread predicts it alike.
    outcome = outcome_of_memory("ordering", tmp_path)
    assert {found.contract for found in outcome.findings} == {ordering.ALL_THREADS_NEWEST_FIRST.id}
    assert not outcome.unsettled
    assert not outcome.extra["differences"]["elsewhere"]


def test_the_order_of_all_namespaces_is_no_other_order_s_mistake(tmp_path: Path) -> None:
    # Among the first programs of this family none rules out a mistake in the order of a thread.
    outcome = outcome_of_memory("parity", tmp_path, "crossed")
    assert outcome.findings == ()
    assert [found.contract for found in outcome.handed] == [ordering.ALL_THREADS_NEWEST_FIRST.id]
    assert not outcome.unsettled
    assert not outcome.extra["differences"]["elsewhere"]


@pytest.mark.parametrize("family", ["ordering", "parity"])
def test_paths_that_one_api_takes_alone_are_expected_of_it_alone(
    family: str, tmp_path: Path
) -> None:
    # LangGraph sends the path to put_writes, and none to an aput_writes without the parameter.
    mistake = BY_NAME["async-passes-on-arguments"]
    target = Target(name="wrong", open=mistake.make, drop=mistake.drop)
    facts = facts_of(target, tmp_path)
    outcome = judged(plan_of(target, family, "crossed", tmp_path, facts=facts), target)
    assert {found.contract for found in outcome.findings} <= {mistake.breaks}
    assert not outcome.unsettled
    assert not outcome.handed


def test_a_mistake_is_chosen_though_another_changes_the_same_writes(
    loop: EventLoop, tmp_path: Path
) -> None:
    numbered = BY_NAME["no-special-indexes"]
    bench = bench_of(both(numbered.name, REPLACED.name), loop, tmp_path)
    diagnosis = bench.diagnosis
    diagnosis.pool = [numbered]
    # Of the two writes in one place, this mistake alone would keep the other one.
    for other in ("__error__", "__interrupt__", "__scheduled__", "notes"):
        diagnosis.kept.note(bench.replay((PUT, batch(1, ("__resume__", 1)), batch(1, (other, 2)))))
    run = bench.replay((PUT, batch(1, ("notes", 1), ("__resume__", 2))))
    assert diagnosis.extend(run, run.breaches[0], numbered.breaks, ()) is numbered


def test_the_mistake_of_a_program_is_found_and_predicts_it(loop: EventLoop, tmp_path: Path) -> None:
    bench = bench_of(REPLACED.saver, loop, tmp_path)
    diagnosis, run = bench.diagnosis, bench.replay(AGAIN)
    blamed = upsert.REGULAR_WRITE_FIRST_WINS.id
    assert diagnosis.extend(run, run.breaches[0], blamed, ()) is REPLACED
    assert diagnosis.compare(run).exact


class RefusesNoRun(ReferenceSaver):
    """Refuses an empty run id, as it may."""

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        if "" in run_ids:
            raise ValueError("run_ids: found an empty text, expected ids")
        super().delete_for_runs(run_ids)


def test_a_run_id_that_is_refused_is_refused_by_the_prediction(
    loop: EventLoop, tmp_path: Path
) -> None:
    bench = bench_of(type("Refusing", (REPLACED.saver, RefusesNoRun), {}), loop, tmp_path)
    runs = DeleteForRuns(("", "run-2"))
    run = bench.replay((*AGAIN, runs, GetTuple("a", "", 1)))
    assert run.refusals == (True,)
    assert compare(run, Predictor(bench.trials).predict(run, [REPLACED])).exact


def counted_and_predicted(
    mistake: Mistake, program: Program, loop: EventLoop, folder: Path
) -> tuple[ProgramRun, ProgramRun | None]:
    """What a saver that counts in integers shows with a mistake, and what is predicted of it."""
    bench = bench_of(type("Counting", (mistake.saver, CountsInIntegers), {}), loop, folder)
    counting = versions_like(CountsInIntegers())
    assert counting is not None
    run = bench.replay(program)
    return run, Predictor(bench.trials, next_version=counting).predict(run, (mistake,))


def test_versions_that_two_checkpoints_share_are_no_flaw_by_themselves(
    loop: EventLoop, tmp_path: Path
) -> None:
    roots = (put_value(1), put_value(2), GetTuple("a", "", 1))
    program = (*roots, batch(1, ("messages", 1)), batch(1, ("messages", 2)))
    run, predicted = counted_and_predicted(REPLACED, program, loop, tmp_path)
    assert run.breaches
    assert compare(run, predicted).exact


@pytest.mark.parametrize("name", ["first-put-wins", "only-metadata-replaced"])
def test_a_second_put_that_is_not_stored_changes_no_value(
    name: str, loop: EventLoop, tmp_path: Path
) -> None:
    again = Put("a", "", 1, changes=(("messages", Value("integer", 9)),))
    run, _ = counted_and_predicted(BY_NAME[name], (put_value(1), again), loop, tmp_path)
    observed = [b.difference.observed for b in run.breaches if b.difference.detail == "messages"]
    assert observed == [{"messages": Value("integer", 1).make()}]


def test_a_retry_under_another_path_is_a_step_where_no_path_is_taken(
    loop: EventLoop, tmp_path: Path
) -> None:
    without = type(
        "Without", (BY_NAME["integer-versions"].saver, BY_NAME["no-task-path"].saver), {}
    )
    retried = (replace(batch(1, ("messages", 1)), path="a"), batch(1, ("messages", 1)))
    bench = bench_of(without, loop, tmp_path)
    run = bench.replay((PUT, *retried, put_value(2), put_value(3), GetTuple("a", "", 2)))
    assert run.breaches
    predictor = Predictor(bench.trials, without_paths=lacks_paths(without()))
    assert compare(run, predictor.predict(run, [BY_NAME["integer-versions"]])).exact


def test_where_an_object_lay_in_memory_is_no_difference(loop: EventLoop, tmp_path: Path) -> None:
    mistake = BY_NAME["unserializable-as-text"]
    bench = bench_of(mistake.saver, loop, tmp_path)
    refused = RefuseValue("put_writes", "a", "", 1)
    run = bench.replay((Put("a", "", 1), refused, batch(1, ("messages", 1))))
    assert any(" at 0x" in str(breach.difference.observed) for breach in run.masked)
    # The prediction must not find the memory of the run free: it would store the same text by luck.
    in_the_way = [(number for number in ()) for _ in range(1_000)]
    assert compare(run, bench.diagnosis.predictor.predict(run, (mistake,))).exact
    assert in_the_way


def test_a_mistake_that_is_made_beside_another_is_left_to_be_found(
    loop: EventLoop, tmp_path: Path
) -> None:
    bench = bench_of(both(*TWO), loop, tmp_path)
    # The ids of three tasks do not sort as the tasks came, forwards or backwards.
    tasks = tuple(batch(task, ("messages", task)) for task in (1, 2, 3))
    diagnosis = bench.diagnosis
    for program in (AGAIN, (Put("a", "", 1), *tasks)):
        run = bench.replay(program)
        left = diagnosis.compare(run).left
        assert diagnosis.extend(run, left[0], left[0].contract, ()) is not None
    run = bench.replay((Put("a", "", 1), *tasks, batch(1, ("messages", 9))))
    assert set(diagnosis.mistakes) == {ARRIVAL, REPLACED}
    assert diagnosis.compare(run).exact


def test_what_nobody_knows_is_predicted_by_nothing(loop: EventLoop, tmp_path: Path) -> None:
    bench = bench_of(ForgetsTheThirdTask, loop, tmp_path)
    tasks = tuple(batch(task, ("messages", task)) for task in (1, 2, 3))
    diagnosis, run = bench.diagnosis, bench.replay((Put("a", "", 1), *tasks))
    found = diagnosis.extend(run, run.breaches[0], run.breaches[0].contract, ())
    assert found is None
    assert diagnosis.compare(run).left == run.breaches


@pytest.mark.parametrize("family", ["upsert", "ordering", "pending-writes"])
def test_of_two_flaws_neither_is_held_nor_dropped(family: str, tmp_path: Path) -> None:
    outcome = outcome_of(both(*TWO), family, tmp_path)
    told = {found.contract for found in (*outcome.findings, *outcome.handed)}
    assert told == {ordering.WRITES_SORTED.id, upsert.REGULAR_WRITE_FIRST_WINS.id}
    assert not outcome.unsettled


def test_a_finding_says_which_mistake_is_behind_it(tmp_path: Path) -> None:
    outcome = outcome_of(REPLACED.saver, "upsert", tmp_path)
    assert [found.mistake for found in outcome.findings] == [REPLACED.note]


def test_a_flaw_that_nobody_knows_is_told_all_the_same(tmp_path: Path) -> None:
    outcome = outcome_of(ForgetsTheThirdTask, "pending-writes", tmp_path)
    told = {found.contract for found in outcome.findings}
    assert pending_writes.COMPLETE.id in told


def test_what_is_proved_is_predicted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[ProgramSearch] = []
    runs: list[ProgramRun] = []
    follow_up = ProgramSearch.follow_up

    def watched(search: ProgramSearch, run: ProgramRun) -> None:
        searches.append(search)
        runs.append(run)
        follow_up(search, run)

    monkeypatch.setattr(ProgramSearch, "follow_up", watched)
    outcome = outcome_of(both(*TWO), "upsert", tmp_path)
    assert outcome.extra["differences"]["explained"] > 10
    diagnosis = searches[-1].diagnosis
    again = Predictor(diagnosis.predictor.like, next_version=diagnosis.predictor.next_version)
    with EventLoop() as loop:
        again.like.loop = loop
        Path(again.like.folder).mkdir(exist_ok=True)
        for run in (run for run in runs if run.breaches):
            assert compare(run, again.predict(run, diagnosis.mistakes)).exact


SAMPLED = sorted(programs())[::12]
"""A part of the programs: the self-test hunts all of the mistakes, and finds them anew."""


@pytest.mark.parametrize("name", SAMPLED)
def test_the_program_of_a_mistake_shows_it(name: str, loop: EventLoop, tmp_path: Path) -> None:
    mistake: Mistake = BY_NAME[name]
    apis = ("sync", "async") if mistake.breaks.startswith("parity/") else ("sync",)
    trials = Trials(Target(name="wrong", open=mistake.make), tmp_path, loop, apis)
    program = from_json(programs()[name])
    looks = ((thorough, watched) for thorough in (True, False) for watched in (True, False))
    assert any(
        trials.replay(program, thorough=thorough, watch_inputs=watched).breaches
        for thorough, watched in looks
    )


@pytest.mark.parametrize("name", SAMPLED)
def test_what_a_program_shows_is_recorded(name: str, loop: EventLoop, tmp_path: Path) -> None:
    assert shown()[name] == facts_shown(BY_NAME[name], programs()[name], loop, tmp_path)


def test_each_program_has_what_it_shows() -> None:
    assert shown().keys() == programs().keys()


@pytest.mark.nightly
def test_the_programs_of_mistakes_accuse_no_right_saver(loop: EventLoop, tmp_path: Path) -> None:
    # They are tried on each saver that is wrong in something: what they show has to be its own.
    trials = Trials(targets.sqlite, tmp_path, loop, ("sync",))
    accused = {
        name: trials.replay(from_json(program), thorough=True).breaches
        for name, program in programs().items()
    }
    assert {name: breaches for name, breaches in accused.items() if breaches} == {}


def test_what_follows_from_a_mistake_of_another_contract_is_not_held(tmp_path: Path) -> None:
    # Whether a saver sorts by task, or keeps one path of each, this family cannot tell.
    outcome = outcome_of(BY_NAME["writes-without-path"].saver, "pending-writes", tmp_path)
    assert pending_writes.ONE_TASK_TWO_PATHS.id not in outcome.checked
    assert ordering.WRITES_SORTED.id in outcome.unexercised[pending_writes.ONE_TASK_TWO_PATHS.id]


@pytest.mark.nightly
def test_a_mistake_whose_own_program_is_answered_right_is_not_chosen(tmp_path: Path) -> None:
    # Both give one checkpoint where none was asked for, and one of them two where one was.
    wrong = BY_NAME["limit-zero-is-one"]
    outcome = outcome_of(wrong.saver, "ordering", tmp_path)
    assert [found.mistake for found in outcome.findings] == [wrong.note]
