"""Judges calls that fail while another caller's call is under way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from saverproof.errors import NoCleanRunError, OpeningError
from saverproof.families.answer import ReplayAnswer, Status, unclear
from saverproof.families.atomicity.fault_plans import thinned
from saverproof.families.atomicity.neighbours.neighbour_calls import (
    A_BATCH_MEETS_A_BATCH,
    SMALL_BATCHES_MEET,
    MeetingPlan,
    MeetingTrial,
    SharedScenario,
    call_of,
    meet,
    meetings_of_tasks,
    meetings_of_threads,
    neither,
    one_after_the_other,
)
from saverproof.families.atomicity.neighbours.neighbour_judging import MeetingJudge
from saverproof.families.atomicity.scripts.meeting_scripts import ScriptedMeeting, reproducer
from saverproof.families.atomicity.sweeps.record import FaultRecord
from saverproof.families.atomicity.sweeps.reference_states import References
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.families.atomicity.trials.observation import TrialObservation
from saverproof.families.atomicity.trials.prepared_store import PreparedStore, prepared
from saverproof.families.atomicity.trials.trial import FaultTrial
from saverproof.families.atomicity.trials.worker import HungError, SlowError, UnansweredError
from saverproof.families.atomicity.verdicts import CANCELLED, SILENT, WHOLE, FaultVerdict
from saverproof.families.items import Finding, ItemPlan
from saverproof.programs.steps.codec import from_json, to_json
from saverproof.programs.steps.definitions import PutWrites
from saverproof.programs.steps.describing import describe
from saverproof.savers.execution.settled_calls import awaiting, perform
from saverproof_faults import Call, Fault, Place, Places, Plan, count_awaits

WIDTH = 500
_OF_OTHERS = "calls that fail while others are under way"


@dataclass(slots=True)
class MeetingBench:
    """One scenario of two callers: its store, and its clean runs."""

    bench: FaultBench
    scenario: SharedScenario
    store: PreparedStore
    judge: MeetingJudge

    @classmethod
    def of(cls, bench: FaultBench, scenario: SharedScenario, stack: ExitStack) -> MeetingBench:
        """Prepare a scenario, and make its clean runs, on the worker's thread.

        Raises:
            NoCleanRunError: the scenario does not work without faults either.
            OpeningError: the saver could not be opened.
        """
        store = stack.enter_context(prepared(scenario, bench))
        observed = []
        for operate in (neither, one_after_the_other):
            observation = TrialObservation()
            MeetingTrial(bench, scenario, store, observation, reference=True).run(operate)
            if not observation.returned:
                raise NoCleanRunError(f"two callers, one after the other: {observation.error}")
            observed.append(observation)
        return cls(bench, scenario, store, MeetingJudge(References(scenario, *observed)))

    def meetings(self) -> list[MeetingPlan]:
        """Return the places where the two calls can meet, from clean runs on the worker's
        thread.
        """
        if self.bench.api == "async":
            return meetings_of_tasks(self.calls(), self._awaits())
        neighbours = self._calls(lambda trial: perform(trial.driver, call_of(trial)))
        return meetings_of_threads(self.calls(), neighbours)

    def calls(self) -> Sequence[Call]:
        """Return the places among which faults are counted, from a clean run on the worker's
        thread: those of the operation, through the async API those of both calls.
        """
        if self.bench.api == "async":
            return self._calls(lambda trial: meet(trial, MeetingPlan()))
        return self._calls(lambda trial: trial.operation())

    def tried(self, meeting: MeetingPlan) -> tuple[MeetingTrial, FaultVerdict]:
        """Make one trial, and return its verdict.

        Raises:
            SlowError: a call took so long that nothing can be said.
            OpeningError: the saver could not be opened or closed.
        """
        trial = self._trial()
        try:
            self.bench.on_worker(lambda: trial.run(lambda _: meet(trial, meeting)))
        except HungError as hung:
            trial.observation.fired |= trial.observation.has_fired()
            self.bench.renew()
            trial.observation.hung = str(hung)
        return trial, self.judge.verdict(trial)

    def _trial(self) -> MeetingTrial:
        return MeetingTrial(self.bench, self.scenario, self.store, TrialObservation())

    def _calls(self, operate: Callable[[MeetingTrial], object]) -> Sequence[Call]:
        trial, calls = self._trial(), list[Call]()

        def counted(_: FaultTrial) -> None:
            with self.bench.injector.meeting({}, None, record=calls):
                operate(trial)
                trial.settle()

        trial.run(counted)
        return calls

    def _awaits(self) -> Sequence[Plan]:
        found: list[Plan] = []

        def counted(trial: FaultTrial) -> None:
            operation = awaiting(trial.driver, trial.store.settled.operation)
            found.extend(trial.bench.loop.run(count_awaits(operation)).plans())
            trial.settle()

        self._trial().run(counted)
        return found


@dataclass(slots=True)
class NeighbourTrials:
    """The meetings of one plan. They come after the sweeps, which judge single callers."""

    plan: ItemPlan
    record: FaultRecord
    bench: FaultBench

    def run(self, most: int) -> None:
        """Make at most ``most`` meetings, evenly spread. Make none if a single caller already shows
        a flaw, which two callers would show as well.
        """
        tally = self.record.tally
        if self.record.found:
            tally.note(f"{_OF_OTHERS} were not judged: what one caller alone leaves is wrong")
            return
        with ExitStack() as stack:
            try:
                make = partial(MeetingBench.of, self.bench, A_BATCH_MEETS_A_BATCH, stack)
                meetings = self.bench.on_worker(make)
                made = thinned(self.bench.on_worker(meetings.meetings), most)
                for meeting in tally.budget.within(made, "two callers"):
                    if self._try(meetings, meeting):
                        tally.note("no more calls of two callers were tried: the saver hangs")
                        return
            except (NoCleanRunError, OpeningError, UnansweredError) as problem:
                tally.note(f"two callers at once were not judged: {problem}")
                if isinstance(problem, UnansweredError):
                    self.bench.renew()

    def _is_wrong_without(self, meetings: MeetingBench, meeting: MeetingPlan) -> bool:
        """Return whether the same two calls fail without a fault, too: the concurrency family
        judges that.
        """
        trial, verdict = meetings.tried(replace(meeting, plan=None))
        wrong = verdict.contract is not None or not trial.observation.returned
        if wrong:
            self.record.tally.note(
                f"{_OF_OTHERS} were not judged: two callers at once do not work without a fault "
                "either (see the family concurrency)"
            )
        return wrong

    def _try(self, meetings: MeetingBench, meeting: MeetingPlan) -> bool:
        """Make one trial, and record it. Return whether the saver hangs."""
        trial, verdict = meetings.tried(meeting)
        self.record.beat(self.bench.calls)
        # A saver that never rolls back may not come to the place at which the neighbour begins.
        if trial.observation.fired and trial.met:
            self._tell(meetings, meeting, trial, verdict)
        return bool(trial.observation.hung)

    def _tell(
        self,
        meetings: MeetingBench,
        meeting: MeetingPlan,
        trial: MeetingTrial,
        verdict: FaultVerdict,
    ) -> None:
        self.record.tried_of_two()
        name = verdict.contract
        if name is None:
            cancelled = meeting.plan is not None and meeting.plan.fault is Fault.CANCEL
            for held in (CANCELLED,) if cancelled else (WHOLE, SILENT):
                self.record.tally.agreed(held)
            return
        tally = self.record.tally
        told = {finding.contract for finding in tally.findings}
        news = name in tally.wanted - told
        if news and self._is_wrong_without(meetings, meeting):
            return
        self._keep(name)
        if news:
            shown = ShownMeeting(meetings, meeting, trial, verdict)
            tally.findings.append(self._shorter(name) or _finding(self.plan, shown))

    def _shorter(self, contract: str) -> Finding | None:
        """Return a finding of smaller batches after fewer steps, that breaks the same contract;
        None if there is none.
        """
        with ExitStack() as stack:
            try:
                make = partial(MeetingBench.of, self.bench, SMALL_BATCHES_MEET, stack)
                meetings = self.bench.on_worker(make)
                for meeting in self.bench.on_worker(meetings.meetings):
                    trial, verdict = meetings.tried(meeting)
                    self.record.beat(self.bench.calls)
                    if verdict.contract == contract and trial.met:
                        return _finding(self.plan, ShownMeeting(meetings, meeting, trial, verdict))
            except (NoCleanRunError, OpeningError):
                pass  # What was seen is shown by the longer program.
            except UnansweredError:
                self.bench.renew()
        return None

    def _keep(self, name: str) -> None:
        self.record.tally.differences.note(name)


@dataclass(frozen=True, slots=True)
class ShownMeeting:
    """A meeting, and what it shows."""

    meetings: MeetingBench
    meeting: MeetingPlan
    trial: MeetingTrial
    verdict: FaultVerdict


def _finding(plan: ItemPlan, shown: ShownMeeting) -> Finding:
    scenario, verdict = shown.meetings.scenario, shown.verdict
    steps = (
        *map(describe, scenario.start),
        f"fault: {shown.meeting.describe()}",
        f"{describe(scenario.step)}  -> {shown.trial.observation.said}",
        f"meanwhile, another caller: {describe(scenario.neighbour)}  -> {_said(shown.trial)}",
    )
    return Finding(
        contract=str(verdict.contract),
        api=plan.api,
        phase="fault",
        summary=f"{scenario.title}: {verdict.summary}",
        expected=verdict.expected[:WIDTH],
        observed=verdict.observed[:WIDTH],
        steps=steps,
        program={
            "program": to_json((*scenario.start, scenario.step)),
            "neighbour": to_json((scenario.neighbour,)),
            "meeting": shown.meeting.as_data(),
        },
        reproducer=_script(shown),
    )


def _script(shown: ShownMeeting) -> str:
    """Return a script of a meeting; "" if there is none. Through the sync API there are scripts of
    neighbours that make their whole call at the place of the fault.
    """
    meetings, meeting, scenario = shown.meetings, shown.meeting, shown.meetings.scenario
    bench = meetings.bench
    together = bench.api == "async"
    if meeting.plan is None or not isinstance(scenario.step, PutWrites):
        return ""
    if not together and (meeting.at != meeting.plan.place or meeting.halfway is not None):
        return ""
    scripted = ScriptedMeeting(
        scenario.start,
        scenario.step,
        scenario.neighbour,
        meeting.plan,
        Places(tuple(bench.on_worker(meetings.calls))),
        next(iter(meetings.store.databases), ""),
    )
    return reproducer(bench.target, scripted, bench.api, str(shown.verdict.contract))


def _said(trial: MeetingTrial) -> str:
    return f"{trial.neighbour} {trial.said}".strip()


def replay_meeting(bench: FaultBench, data: Mapping[str, Any], contract_id: str) -> ReplayAnswer:
    """Replay a recorded meeting, or another one if its place is gone.

    Raises:
        ValueError: the data is no recorded meeting.
    """
    scenario, recorded = _read(data)
    with ExitStack() as stack:
        try:
            meetings = bench.on_worker(partial(MeetingBench.of, bench, scenario, stack))
            fired = 0
            for meeting in (recorded, *bench.on_worker(meetings.meetings)):
                trial, verdict = meetings.tried(meeting)
                fired += trial.observation.fired
                if verdict.contract == contract_id:
                    said = (verdict.summary, verdict.expected, verdict.observed)
                    return ReplayAnswer(Status.FAILING, *said)
        except SlowError as slow:
            return unclear(f"a call took too long to tell: {slow}")
    if not fired:
        return unclear("the operation has no place for this fault any more")
    return ReplayAnswer(Status.FIXED, "two callers show no flaw, wherever one of them fails")


def _read(data: Mapping[str, Any]) -> tuple[SharedScenario, MeetingPlan]:
    *start, step = from_json(data["program"])
    (neighbour,) = from_json(data["neighbour"])
    meeting = data.get("meeting")
    if not isinstance(neighbour, PutWrites) or not isinstance(meeting, Mapping):
        raise ValueError("neighbour: expected a batch of writes, and a meeting")
    plan = meeting.get("plan")
    places = [_place(meeting.get(name)) for name in ("at", "halfway")]
    made = MeetingPlan(None if plan is None else Plan.from_data(plan), *places)
    return SharedScenario("two callers", tuple(start), step, neighbour=neighbour), made


def _place(data: Any) -> Place | None:
    # A place is read as that of a plan: there is one way to check it.
    if data is None:
        return None
    kill = {"fault": Fault.KILL.value, "place": data}
    return Plan.from_data(kill).place
