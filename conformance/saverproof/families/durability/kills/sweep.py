"""Kills processes at all places, or at an even share of them, and judges what they leave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from random import Random
from typing import Any

from saverproof.errors import NoCleanRunError
from saverproof.families.budget import batched
from saverproof.families.durability.effort import KillEffort
from saverproof.families.durability.kills.bench import SIDE_BY_SIDE, KillBench
from saverproof.families.durability.kills.kill_choice import busiest, chosen, phased
from saverproof.families.durability.kills.kill_places import OPENING, KillPlace, PlaceKind
from saverproof.families.durability.kills.kill_points import unavailable
from saverproof.families.durability.kills.record import ATOMIC, KILLED, KillRecord, KillTrial
from saverproof.families.durability.kills.trials import (
    Subject,
    controlled,
    looked_for,
    survivor_of,
    trial_of,
)
from saverproof.families.durability.kills.workloads import (
    REPLACED,
    Workload,
    drawn,
    survivors,
    workloads,
)
from saverproof.programs.steps.codec import to_json
from saverproof_faults import io_to_fail
from saverproof_faults.kill import DiedBy, TrialResult, View
from saverproof_faults.servers import ServerError, ServerKind, ServerUnavailable

NO_PLACES = (
    "no place inside an operation was seen to kill at: neither SQLite, as Python's sqlite3 has it, "
    "nor Python itself changed a file or talked to a socket"
)
RECOVERED = frozenset((PlaceKind.IO, PlaceKind.SYSTEM_CALL))
"""The kinds of places that lie so close together that a recovery has some."""
_QUICK_CALL_MS = 5.0
"""Milliseconds of a call up to which a saver is given the long workload, which takes as long as a
hundred calls, and so does each kill in it.
"""
_TIDYING = 6
"""One kill of the long workload for so many of the others: each takes as long as a dozen."""
_BATCH = 16
"""How many stores one process looks at."""


@dataclass(slots=True)
class KillSweep:
    """Makes the kills of one item. ``on_kill`` is called after each kill."""

    bench: KillBench
    record: KillRecord
    effort: KillEffort
    able: frozenset[str]
    on_kill: Callable[[], None]
    _afresh: frozenset[int] = frozenset()

    def run(self) -> None:
        """Make all kills. Contracts of programs that fail without a kill become unknown."""
        fixed = [s for s in map(self.rehearsed, workloads(self.able)) if s is not None]
        if not fixed:
            self.record.tally.unsure(KILLED, "; ".join(self.record.tally.notes))
            return
        if not any(place.inside for subject in fixed for place in subject.places):
            self.record.tally.not_exercised([ATOMIC], NO_PLACES)
        for rehearsed in fixed:
            self.record.counted(rehearsed.run, rehearsed.places)
        chosen = self._choose(f"{self.bench.plan.seed}:fixed", fixed, self.effort.swept)
        for number in range(self.effort.programs):
            seed = f"{self.bench.plan.seed}:{self.bench.plan.api}:{number}"
            subject = self.rehearsed(drawn(seed, self.able, self.effort.length))
            if subject is not None:
                share = self.effort.drawn // self.effort.programs
                chosen += self._choose(seed, [subject], share)
        chosen += self._while_tidying()
        chosen += list(self._instants(fixed))
        chosen += self._recoveries(fixed)
        chosen += self._after_early_writes(fixed)
        Random(self.bench.plan.seed).shuffle(chosen)
        step = max(1, len(chosen) // max(1, self.effort.afresh))
        self._afresh = frozenset(range(step // 2, len(chosen), step)[: self.effort.afresh])
        budget = self.record.tally.budget
        chosen = budget.ordered(chosen, lambda pair: (pair[0].workload.name, pair[1].operation))
        batches = list(batched(list(enumerate(chosen)), _BATCH))
        for batch in budget.within(batches, f"batches of {_BATCH} kills", share=0.5):
            self._kill(batch)
            if self.bench.hangs_too_often:
                self.record.cut_off(KILLED, self.bench.hangs)
                return
        if self.effort.beside and "many_processes" in self.able:
            self._beside(fixed[0])
        if self.bench.target.server is not None:
            self._with_server(self.bench.target.server, fixed)

    # --- what to kill, and where -----------------------------------------------------------

    def rehearsed(self, workload: Workload) -> Subject | None:
        """Return the workload with its places; None if the saver cannot take it without a kill."""
        try:
            run, versions = self.bench.rehearsed(workload)
            subject = Subject(workload, run, versions)
            subject.places = list(self._places(subject))
        except NoCleanRunError as problem:
            self.record.tally.note(
                f"{workload.name} was not killed, since it fails without a kill: {problem}"[:900]
            )
            return None
        return subject

    def _places(self, subject: Subject) -> Iterator[KillPlace]:
        known = False
        for kind in (PlaceKind.STATEMENT, PlaceKind.IO):
            why = unavailable(kind)
            if why is None:
                found = self.bench.places(subject.workload, subject.versions, kind)
                known |= bool(found)
                yield from _worth_a_kill(found) if kind is PlaceKind.IO else found
            else:
                self.record.tally.note(f"no kills at each {kind.value}: {why}")
        # Calls also where there are statements: some savers write files beside their database.
        below = () if known or unavailable(PlaceKind.SYSTEM_CALL) else (PlaceKind.SYSTEM_CALL,)
        for kind in (*below, PlaceKind.CALL):
            found = self.bench.places(subject.workload, subject.versions, kind)
            yield from found
            if found:
                break
        for number in range(OPENING, len(subject.workload.program)):
            yield KillPlace(PlaceKind.ACKNOWLEDGED, number)

    def _choose(
        self, seed: str, subjects: list[Subject], most: int
    ) -> list[tuple[Subject, KillPlace]]:
        """Return all places, or ``most`` of them."""
        everything = [
            (subject, place)
            for subject in subjects
            for place in phased(subject.places, subject.workload.program)
        ]
        taken = chosen(everything, most, Random(seed))
        return [(subject, phased_place.place) for subject, phased_place in taken]

    def _while_tidying(self) -> list[tuple[Subject, KillPlace]]:
        """Return places of the long workload: those of puts that do more than most of the others,
        as a saver does that tidies up now and then.
        """
        plan = self.bench.plan
        # Both APIs tidy up in the same way, and one of them shows it.
        first = next(api for api, operations in plan.facts["operations"].items() if operations)
        if plan.api != first:
            return []
        if (each_ms := plan.facts.get("call_ms", 0.0)) > _QUICK_CALL_MS:
            why = f"a call takes {each_ms:.0f} ms, and {_QUICK_CALL_MS:.0f} at most are waited for"
            self.record.tally.note(f"{REPLACED.name} was not killed: {why}")
            return []
        subject = self.rehearsed(REPLACED)
        if subject is None:
            return []
        subject.places = busiest(subject.places, subject.workload.program)
        return self._choose(f"{plan.seed}:tidying", [subject], self.effort.swept // _TIDYING)

    def _recoveries(self, subjects: list[Subject]) -> list[tuple[Subject, KillPlace]]:
        """Return random places after which something has to be recovered: the middles of writes and
        of commits, or any places inside operations if none of them is a middle.
        """
        inside = [
            (subject, replace(place, again=True))
            for subject in subjects
            for place in subject.places
            if place.inside and place.kind in RECOVERED
        ]
        torn = [pair for pair in inside if pair[1].moment == "within"] or inside
        choose = Random(f"{self.bench.plan.seed}:recoveries")
        return choose.sample(torn, min(len(torn), self.effort.recoveries))

    def _after_early_writes(self, subjects: list[Subject]) -> list[tuple[Subject, KillPlace]]:
        """Return a place after all early writes of a checkpoint and before its put. One such place
        is always tried.
        """
        found = [
            (subject, KillPlace(PlaceKind.ACKNOWLEDGED, done - 1))
            for subject in subjects
            for done in range(1, len(subject.workload.program))
            if subject.run.revealed_after(done)
        ]
        return found[: min(1, self.effort.swept)]

    def _instants(self, subjects: list[Subject]) -> Iterator[tuple[Subject, KillPlace]]:
        windows = [self.bench.window_s(s.workload, s.versions) for s in subjects]
        for number in range(self.effort.instants):
            which = number % len(subjects)
            yield subjects[which], self._instant(number, windows[which])

    def _instant(self, number: int, window_s: float) -> KillPlace:
        seed = Random(f"{self.bench.plan.seed}:{number}").getrandbits(30)
        return KillPlace(PlaceKind.INSTANT, index=seed, window_s=round(window_s, 6))

    # --- one process -----------------------------------------------------------------------

    def _kill(self, batch: Sequence[tuple[int, tuple[Subject, KillPlace]]]) -> None:
        """Kill a few processes; then have others look at their stores."""
        killed: list[tuple[Subject, KillPlace, TrialResult]] = []
        stores: list[dict[str, Any]] = []
        afresh: list[bool] = []
        with ExitStack() as stack:
            for some in batched(batch, SIDE_BY_SIDE):
                given = [
                    stack.enter_context(self.bench.store_for(one.workload, one.versions))
                    for _, (one, _) in some
                ]
                places = [place for _, (_, place) in some]
                results = self.bench.killed_at(given, places)
                for (number, (subject, place)), arguments, result in zip(
                    some, given, results, strict=True
                ):
                    if not self._unusable(result, place):
                        killed.append((subject, place, result))
                        stores.append(arguments | looked_for(subject, result))
                        afresh.append(number in self._afresh)
                self.on_kill()
                if self.bench.hangs_too_often:
                    break
            views = self._looked(stores, afresh)
        for (subject, place, result), view in zip(killed, views, strict=True):
            if view is not None:
                tell = partial(trial_of, subject, place, result, view)
                self.record.tried(controlled(self.bench, subject, tell))

    def _looked(self, stores: list[dict[str, Any]], afresh: list[bool]) -> list[View | None]:
        together = [store for store, alone in zip(stores, afresh, strict=True) if not alone]
        views = iter(self.bench.looked_at_each(together))
        return [
            (None if self.bench.hangs_too_often else self.bench.looked(store, afresh=True))
            if alone
            else next(views)
            for store, alone in zip(stores, afresh, strict=True)
        ]

    def again(self, subject: Subject, place: KillPlace) -> KillTrial:
        """Make one more kill, without adding it to the record."""
        with self.bench.store_for(subject.workload, subject.versions) as arguments:
            result = self.bench.killed(arguments, place)
            arguments |= looked_for(subject, result)
            view = self.bench.looked(arguments, afresh=False)
        return controlled(self.bench, subject, partial(trial_of, subject, place, result, view))

    def _unusable(self, result: TrialResult, place: KillPlace) -> bool:
        """Return whether the process ended before the kill by something other than returning."""
        if result.died_by in (DiedBy.KILL, DiedBy.FINISHED):
            return False
        why = f"{result.ending()}, before it could be killed {place.describe()}"
        self.record.tally.unsure(KILLED, f"{why} {result.stacks}".strip()[:2_000])
        return True

    # --- the server, too -------------------------------------------------------------------

    def _with_server(self, kind: ServerKind, subjects: list[Subject]) -> None:
        """Kill the server together with the process; the server starts again before anybody
        looks.
        """
        seed = f"{self.bench.plan.seed}:server"
        chosen = [
            (0, (subject, replace(place, server=True)))
            for subject, place in self._choose(seed, subjects, self.effort.servers)
        ]
        self._afresh = frozenset()
        try:
            for _, (_, first) in chosen[:1]:
                with self.bench.server_for(first):
                    self._kill(chosen)
                said = f"{kind.title} was killed {len(chosen)} times and started again"
                self.record.tally.note(f"{said}; {kind.promise}".removesuffix("; "))
        except (ServerUnavailable, ServerError) as reason:
            self.record.tally.note(f"{kind.title} was not killed: {reason}")

    # --- two processes ---------------------------------------------------------------------

    def _beside(self, subject: Subject) -> None:
        other, last = survivors("other-")
        second = self.rehearsed(other)
        if second is None:
            return
        choose = Random(f"{self.bench.plan.seed}:beside")
        places = [p for p in subject.places if p.kind is not PlaceKind.CALL and p.operation >= 0]
        chosen = choose.sample(places, min(len(places), self.effort.beside))
        budget = self.record.tally.budget
        for place in budget.within(chosen, "kills beside another process", share=0.6):
            self._kill_beside(subject, second, last, place)
            self.on_kill()

    def _kill_beside(self, subject: Subject, other: Subject, last: int, place: KillPlace) -> None:
        with self.bench.store() as store:
            mine, theirs = (
                store
                | {
                    "program": to_json(each.workload.program),
                    "versions": each.versions,
                    "threads": list(each.workload.threads),
                    "last": last,
                }
                for each in (subject, other)
            )
            # Two processes that create one store at once are judged elsewhere.
            self.bench.looked({**mine, "afterwards": []}, afresh=False)
            result, survivor = self.bench.killed_beside(mine, place, theirs)
            if result.died_by not in (DiedBy.KILL, DiedBy.FINISHED):
                self.record.tally.note(
                    f"not killed beside another process: {result.ending()}"[:300]
                )
                return
            views = self.bench.looked_in_turn([mine, {**theirs, "afterwards": []}])
            if views[0] is not None:
                tell = partial(trial_of, subject, place, result, views[0], beside=True)
                self.record.tried(controlled(self.bench, subject, tell))
            if views[1] is not None:
                tell = partial(survivor_of, other, place, survivor, views[1])
                self.record.tried(controlled(self.bench, other, tell))


def _worth_a_kill(places: Sequence[KillPlace]) -> Iterator[KillPlace]:
    """Yield the places of I/O. Of a long row of writes to one file, only a few are kept."""
    for _, group in groupby(places, key=lambda place: place.operation):
        same = [*group]
        numbers = io_to_fail([place.about for place in same])
        yield from (place for number, place in enumerate(same, start=1) if number in numbers)
