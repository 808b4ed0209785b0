"""Plays two savers on one store: one writes, and the kit judges whether the other sees the
changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from saverproof.capability import Capability
from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.meeting import Meeting
from saverproof.families.concurrency.contract_ids import INSTANCES
from saverproof.families.concurrency.record import Problem, SceneRecord
from saverproof.families.concurrency.scenes import instances
from saverproof.families.concurrency.scenes.instance_changes import (
    BOTH_WRITE,
    CHANGES,
    FILLED,
    FILLED_ALIKE,
    FILLED_BEYOND,
    QUESTIONS,
    TouchingStep,
)
from saverproof.programs.axes import table
from saverproof.programs.axes.log import AxisLog
from saverproof.programs.legality import objection
from saverproof.programs.model.store import Model
from saverproof.programs.rewriting.spans import without_spans
from saverproof.programs.steps import definitions as steps
from saverproof.programs.steps.codec import from_json, to_json
from saverproof.programs.steps.describing import describe
from saverproof_faults.kill import DiedBy, TrialResult, View

SCENE = "instances"


class Reader(StrEnum):
    """The process in which the saver that is asked runs. The names are those of points of an
    axis.
    """

    BESIDE = "a saver opened before"
    ELSEWHERE = "another process"


@dataclass(frozen=True, slots=True)
class Asking:
    """A scene: the changes, the questions, and who makes them. In an artefact it has one
    question.

    The questions are asked after each change, but for the last ones: so many are made ``at_once``,
    without a question in between. The changes with the numbers ``own`` are made by the saver that
    is asked; there is no question right after those.
    """

    reader: Reader
    changes: steps.Program
    questions: steps.Program
    at_once: int = 1
    own: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the scene as plain data, for an artefact."""
        changes, questions = to_json(self.changes), to_json(self.questions)
        return {
            "scene": SCENE,
            "reader": self.reader.value,
            "changes": changes,
            "questions": questions,
            "at_once": self.at_once,
            "own": [*self.own],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Asking:
        """Return what :meth:`to_json` gave."""
        changes, questions = from_json(data["changes"]), from_json(data["questions"])
        own = tuple(data.get("own", ()))
        return cls(Reader(data["reader"]), changes, questions, data.get("at_once", 1), own)

    def of(self, changes: steps.Program, question: int) -> Asking:
        """Return the scene with some of these changes alone, and with one question."""
        last = self.changes[-self.at_once :]
        at_once = sum(any(step is one for one in last) for step in changes)
        mine = [self.changes[number] for number in self.own]
        own = (n for n, step in enumerate(changes) if any(step is one for one in mine))
        asked = (self.questions[question],)
        return Asking(self.reader, changes, asked, max(at_once, 1), tuple(own))


def agree(
    bench: CallerBench, reader: Reader, able: Collection[str], record: SceneRecord, log: AxisLog
) -> None:
    """Let one saver make every change, and ask another saver every question after each change. Then
    let both write, and let one delete a thread and fill it again between two questions.
    """
    scenes = [(CHANGES, 1), (BOTH_WRITE, 1)]
    if Capability.DELETE_THREAD in able:
        scenes += [((*FILLED, *again), len(again)) for again in (FILLED_ALIKE, FILLED_BEYOND)]
    for changes, at_once in scenes:
        _agree(bench, reader, changes, at_once, able, record, log)
        if INSTANCES in (record.found.keys() | record.tally.unknown.keys()):
            return


def _agree(
    bench: CallerBench,
    reader: Reader,
    all_changes: Sequence[TouchingStep],
    at_once: int,
    able: Collection[str],
    record: SceneRecord,
    log: AxisLog,
) -> None:
    changes, questions = (
        [one for one in parts if one.needs is None or one.needs in able]
        for parts in (all_changes, QUESTIONS)
    )
    asking = Asking(
        reader,
        tuple(one.step for one in changes),
        tuple(one.step for one in questions),
        at_once,
        tuple(number for number, one in enumerate(changes) if one.own),
    )
    seen = play(bench, asking, record)
    by = table.READER.at(reader)
    for change, question in seen["compared"]:
        points = Counter([by, changes[change].point, questions[question].point])
        log.add(points, table.CROSSED["concurrency"])
    if seen["stale"]:
        _show(bench, asking, seen["stale"], record)


def again(bench: CallerBench, asking: Asking, record: SceneRecord) -> None:
    """Play the scene of an artefact again."""
    for stale in play(bench, asking, record)["stale"]:
        if _is_sure(asking, stale):
            record.saw([problem_of(asking, stale)], asking.to_json())
            return


def play(bench: CallerBench, asking: Asking, record: SceneRecord) -> Mapping[str, Any]:
    """Play the scene, and return what the processes saw. Tell the tally what could not be judged,
    and why.
    """
    tally = record.tally
    record.scenes[f"changes seen by {asking.reader.value}"] += 1
    results = list(_results(bench, asking))
    for result in results:
        if result.died_by is not DiedBy.FINISHED:
            why = f"{result.ending()} {result.stacks}".strip()
            tally.unknown.setdefault(INSTANCES, why[:1_000])
    values = _values(results)
    for value in values:
        if still := value["standstill"]:
            why = f"not over after {still['seconds']:g} s, with {asking.reader.value}"
            tally.unknown.setdefault(INSTANCES, f"{why}\n{still['stacks']}"[:1_000])
        elif value["trouble"]:
            tally.unknown.setdefault(INSTANCES, value["trouble"])
        if disputed := value["disputed"]:
            how = f"no two savers agree; {disputed[0]}"[:1_000]
            tally.unsettle(INSTANCES, len(disputed), disputed[:1], asking.to_json(), how)
        if value["refused"]:
            why = f"no second saver can be used beside the first: {value['refused']}"
            tally.rule_out(INSTANCES, why[:600])
    compared = [pair for value in values for pair in value["compared"]]
    tally.agreed(INSTANCES, len(compared))
    tally.operations += len(compared) + len(asking.changes)
    return {"compared": compared, "stale": _stale(values)}


def _results(bench: CallerBench, asking: Asking) -> Iterator[TrialResult | View]:
    with bench.store() as store:
        arguments = store | asking.to_json()
        if asking.reader is Reader.BESIDE:
            yield bench.played(instances.in_one_process, arguments)
            return
        meeting = bench.folder / "meeting-of-instances"
        Meeting.prepare(meeting, 2)
        arguments |= {"meeting": str(meeting)}
        yield from bench.writers([(instances.write, arguments), (instances.read, arguments)])
        yield bench.looked(instances.look, arguments)
        for file in bench.folder.glob(f"{meeting.name}*"):
            file.unlink()


def _values(results: Iterable[TrialResult | View]) -> list[Mapping[str, Any]]:
    return [result.value for result in results if result.died_by is DiedBy.FINISHED]


def _stale(values: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the answers that differed. An answer after the last change comes with a third
    process's answer to the same question.
    """
    answers: list[list[str]] = next(
        (value["answers"] for value in values if "answers" in value), []
    )
    found = []
    for stale in (one for value in values for one in value["stale"]):
        number = stale["at"][1]
        found.append({**stale, "third": answers[number][0] if number < len(answers) else None})
    return found


def _is_sure(asking: Asking, stale: Mapping[str, Any]) -> bool:
    """Return whether a saver other than the reader has confirmed the writer's answers."""
    last = stale["at"][0] == len(asking.changes) - 1
    return asking.reader is Reader.BESIDE or (last and stale["third"] == stale["said"])


# --- what is shown -------------------------------------------------------------------------------


_MOST_TRIED = 3


def _show(
    bench: CallerBench, asking: Asking, found: Sequence[Mapping[str, Any]], record: SceneRecord
) -> None:
    """Record the first stale answer that is sure, with its shortest program, and count it as a
    problem.
    """
    differences = record.tally.differences
    differences.note(INSTANCES, len(found) - 1)
    for stale in found[:_MOST_TRIED]:
        shown = _shortened(bench, asking, stale)
        if shown is not None:
            record.saw([problem_of(*shown)], shown[0].to_json())
            return
    differences.note(INSTANCES)
    how = "two processes get different answers, and a third agrees with neither"
    if INSTANCES not in record.tally.unsettled:
        steps = problem_of(asking, found[0]).steps
        record.tally.unsettle(INSTANCES, len(found), steps, asking.to_json(), how)


def _shortened(
    bench: CallerBench, asking: Asking, stale: Mapping[str, Any]
) -> tuple[Asking, Mapping[str, Any]] | None:
    """Return the shortest scene of one question whose last change shows the stale answer; None if
    unsure.
    """
    change, question = stale["at"]
    known = [(asking, stale)] if _is_sure(asking, stale) else []

    def attempt(changes: steps.Program) -> steps.Program | None:
        if not changes or not _is_legal(changes):
            return None
        candidate = asking.of(changes, question)
        for one in _stale(_values(_results(bench, candidate))):
            if one["at"][0] == len(changes) - 1 and _is_sure(candidate, one):
                known.append((candidate, one))
                return changes
        return None

    first = attempt(asking.changes[: change + 1])
    if first is not None:
        without_spans(first, attempt)
    return known[-1] if known else None


def _is_legal(program: steps.Program) -> bool:
    model = Model()
    for step in program:
        if objection(step, model) is not None or _has_lost_its_parent(step, model):
            return False
        model.apply(step)
    return True


def _has_lost_its_parent(step: steps.Step, model: Model) -> bool:
    if not isinstance(step, steps.Put) or step.parent is None:
        return False
    return step.parent not in model.history(step.thread, step.namespace)


def _asked_after(asking: Asking) -> str:
    if asking.own:
        return "each change of the first"
    if asking.at_once == 1:
        return "each change"
    return f"each change, but not between the last {asking.at_once}"


def problem_of(asking: Asking, stale: Mapping[str, Any]) -> Problem:
    """Return a stale answer as a breach, with all that was done before."""
    change, number = stale["at"]
    question = describe(asking.questions[number])
    where = "in another process" if asking.reader is Reader.ELSEWHERE else "on the same store"
    steps_before = [
        "a first saver is opened",
        f"a second one is opened {where}, and asked after {_asked_after(asking)}",
        *(
            f"{'second' if n in asking.own else 'first'}: {describe(step)}"
            for n, step in enumerate(asking.changes[: change + 1])
        ),
        f"second: {question}  -> {stale['observed']}",
    ]
    return Problem(
        INSTANCES,
        f"{question} of {asking.reader.value} does not show what another saver acknowledged",
        f"{stale['expected']}: so the saver that wrote says, and one that is opened now",
        stale["observed"],
        steps=tuple(steps_before),
    )
