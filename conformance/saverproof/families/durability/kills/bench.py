"""Runs programs of one target in processes of their own, and lets other processes look at the
stores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from saverproof.errors import NoCleanRunError
from saverproof.families.budget import batched
from saverproof.families.durability.kills import child
from saverproof.families.durability.kills.control import up_to_date
from saverproof.families.durability.kills.judging import KilledRun, LeftBehind
from saverproof.families.durability.kills.kill_places import KillPlace, PlaceKind
from saverproof.families.durability.kills.workloads import AFTERWARDS, OF_LOOKS, UNRELATED, Workload
from saverproof.families.items import ItemPlan
from saverproof.families.trial_processes import harness_for
from saverproof.process.scratch import in_memory
from saverproof.programs.small import checkpoint
from saverproof.programs.steps.codec import decode, encode, to_json
from saverproof.programs.steps.definitions import GetTuple, Program, Put
from saverproof.savers.execution.calls import checkpoint_format
from saverproof.savers.targets.opening import fresh_workspace
from saverproof.savers.targets.target import Target
from saverproof.savers.workspace import Workspace
from saverproof_faults.kill import Body, DiedBy, Harness, KillAt, TrialResult, View, Writer
from saverproof_faults.servers import Lease, Need, ServerError, serving_apart
from saverproof_faults.servers.keeper_client import announced
from saverproof_faults.servers.keeper_protocol import WantedPlace

DEADLINE_S = 15.0
SIDE_BY_SIDE = 2
"""How many trials run at the same time, each on its own store: while one waits, another works."""
MOST_HANGS = 2
"""The number of processes that hang after which a saver is not asked any more: two are no
accident.
"""
_UNUSED = 9_999
"""The number of a checkpoint that no program puts."""
_TIMES = 3
"""How many stores are looked at to see whether a saver forgets without a kill: one that writes in
the background does so at some times.
"""
_KNOWN_TO_HANG = 3
"""The deadline of a process is divided by this once a process has hung, or a process that looked at
many stores.
"""


_AFTERWARDS = tuple(
    replace(step, format=checkpoint_format()) if isinstance(step, Put) else step
    for step in AFTERWARDS
)
"""The steps that a look takes. LangGraph's checkpoint format is written into them: finding it out
takes a fresh interpreter half a second.
"""


def in_each(threads: Iterable[str]) -> dict[str, Any]:
    """Return the argument by which a look puts a checkpoint into each of these threads."""
    put = partial(checkpoint, number=_UNUSED, namespace=OF_LOOKS)
    steps = (replace(put(thread), format=checkpoint_format()) for thread in threads)
    return {"in_each": to_json(tuple(steps))}


_READ: Program = (GetTuple(UNRELATED),)
"""The program of a process that opens a killed store: some savers recover a store only at the first
read.
"""
_MOST_RECOVERIES = 16
"""The most processes that are killed while they open one store: recoveries have few places."""


@dataclass(slots=True)
class KillBench:
    """A target, the process from which the trials' processes are forked, and ``stores``, the folder
    of the trials' stores.
    """

    plan: ItemPlan
    target: Target
    harness: Harness
    stores: Path
    kills: int = 0
    hangs: int = 0
    _forgets: bool | None = None
    """Whether the saver forgets what it wrote without any kill; None as long as nobody asked."""

    @classmethod
    @contextmanager
    def of(cls, plan: ItemPlan, target: Target, children: Iterable[ModuleType]) -> Iterator[Self]:
        """Start the process from which others are forked; it ends with the block.

        ``children`` are the modules whose functions run in these processes.

        Raises HarnessError where the process cannot be started.
        """
        with harness_for(plan, children) as harness, harness.folder() as stores:
            yield cls(plan, target, harness, stores)

    @property
    def slow(self) -> bool:
        """True if each process is a fresh interpreter."""
        return self.harness.reason is not None

    @property
    def deadline_s(self) -> float:
        """The seconds that a process may take."""
        return DEADLINE_S / _KNOWN_TO_HANG if self.hangs else DEADLINE_S

    @contextmanager
    def store(self) -> Iterator[dict[str, Any]]:
        """Make a new store, as arguments for the functions of its processes."""
        with fresh_workspace(self.stores, self.target) as workspace:
            yield self.arguments(workspace)

    def arguments(self, workspace: Workspace) -> dict[str, Any]:
        """Return the arguments with which a process opens the store in a workspace."""
        return {
            "target": self.plan.target,
            "api": self.plan.api,
            **workspace.to_json(),
            "afterwards": to_json(_AFTERWARDS),
        }

    @contextmanager
    def store_for(
        self, workload: Workload, versions: list[Any] | None = None
    ) -> Iterator[dict[str, Any]]:
        """Make a new store for a workload; without ``versions``, the saver makes the channel
        versions.
        """
        with self.store() as arguments:
            yield arguments | {
                "program": to_json(workload.program),
                "threads": list(workload.threads),
                "versions": versions,
                **in_each(workload.threads),
            }

    @property
    def forgets(self) -> bool:
        """True if the saver was seen to forget what it wrote although nothing was killed."""
        return bool(self._forgets)

    # --- clean runs ------------------------------------------------------------------------

    def rehearsed(self, workload: Workload) -> tuple[KilledRun, list[Any]]:
        """Return what a clean run shows after each operation, and the channel versions in it.

        Raises:
            NoCleanRunError: the saver cannot take the program without a kill.
        """
        with self.store_for(workload) as arguments:
            value = self._clean(child.watch_states, arguments)
        return KilledRun(workload.program, tuple(value["states"])), value["versions"]

    def compared(self, workload: Workload, run: KilledRun, versions: list[Any]) -> KilledRun:
        """Correct a clean run by what other processes see.

        They look at the store after every number of operations, each time on a new store. Where the
        run's own saver still showed an old state, their view is taken. What comes back after
        removals is added.
        """
        ends = range(len(workload.program) + 1)
        shorter = [replace(workload, program=workload.program[:end]) for end in ends]
        with ExitStack() as stack:
            stores = [stack.enter_context(self.store_for(each, versions)) for each in shorter]
            for end in filter(run.removes, ends):
                stores[end + 1]["removed"] = end
            for some in batched(stores, SIDE_BY_SIDE):
                writers = [Writer(child.write, arguments) for arguments in some]
                self.harness.together(writers, deadline_s=self.deadline_s)
            views = self.looked_at_each(stores)
        seen = [view.value for view in views if view is not None and view.value is not None]
        if len(seen) < len(stores) or any({"opening", "reading"} & {*each} for each in seen):
            return run
        return replace(
            run,
            states=up_to_date(run.program, run.states, [each["shown"] for each in seen]),
            left={
                end: LeftBehind.of(seen[end + 1])
                for end in filter(run.removes, ends)
                if "put_again" in seen[end + 1]
            },
        )

    def places(self, workload: Workload, versions: list[Any], kind: PlaceKind) -> list[KillPlace]:
        """Return every place of a kind that a clean run passes.

        Raises:
            NoCleanRunError: the saver cannot take the program without a kill.
        """
        with self.store_for(workload, versions) as arguments:
            value = self._clean(child.rehearse, arguments | {"kind": kind})
        return [decode(KillPlace, place) for place in value["places"]]

    def window_s(self, workload: Workload, versions: list[Any]) -> float:
        """Return how long an undisturbed run takes, in seconds."""
        with self.store_for(workload, versions) as arguments:
            result = self.harness.trial(child.write, arguments, deadline_s=DEADLINE_S)
        if result.died_by is not DiedBy.FINISHED:
            raise NoCleanRunError(result.ending())
        return result.duration_s

    def _clean(self, body: Body, arguments: dict[str, Any]) -> Any:
        result = self.harness.trial(body, arguments, deadline_s=DEADLINE_S)
        if result.died_by is not DiedBy.FINISHED:
            raise NoCleanRunError(f"{result.ending()} {result.stacks}".strip())
        return result.value

    # --- the server ------------------------------------------------------------------------

    @contextmanager
    def server_for(self, place: KillPlace) -> Iterator[None]:
        """Use a server of the kit's own for the stores of a block, if the place says that a server
        is killed.

        Raises:
            ServerUnavailable: no server can be killed.
        """
        kind = self.target.server
        if not place.server or kind is None:
            yield
            return
        with serving_apart(kind, in_memory()):
            yield

    def _tell_server(self, stores: Sequence[dict[str, Any]], *, killed: bool) -> None:
        """Tell the server that processes have died: it is killed as well, or ends the sessions that
        they left open. Otherwise the looks that follow might meet a session that is still ending.
        """
        kind = self.target.server
        if kind is None:
            return
        address = announced()[Need.of(kind).key].address
        for store in stores:
            with closing(Lease(address, WantedPlace(name=store["name"]))) as lease:
                if killed:
                    lease.restart()
                    return
                with suppress(ServerError):
                    lease.end_sessions()

    # --- kills -----------------------------------------------------------------------------

    def killed(self, arguments: dict[str, Any], place: KillPlace) -> TrialResult:
        """Run the program of ``arguments`` in a process that dies at a place."""
        return self.killed_at([arguments], [place])[0]

    def killed_at(
        self, each: Sequence[dict[str, Any]], places: Sequence[KillPlace]
    ) -> list[TrialResult]:
        """Run the programs of these arguments, each in a process that dies at its place."""
        given = [
            ({**arguments, "kill": encode(place)}, kill_at(place))
            for arguments, place in zip(each, places, strict=True)
        ]
        server = any(place.server for place in places)
        results = self.killed_each(child.write, given, server=server)
        for arguments, place, result in zip(each, places, results, strict=True):
            if place.again and result.died_by is DiedBy.KILL:
                self._kill_recoveries(arguments, place)
        return results

    def _kill_recoveries(self, arguments: dict[str, Any], place: KillPlace) -> None:
        """Open a killed store again and again, each time in a process that dies: the first at its
        first place, the second at its second, and so on.

        The places depend on what the kill has left, so they are counted on another store that was
        killed in the same way.
        """
        with self.store() as alike:
            other = arguments | alike
            self.killed(other, replace(place, again=False))
            recovery = {"program": to_json(_READ), "versions": []}
            try:
                value = self._clean(child.rehearse, other | recovery | {"kind": place.kind})
            except NoCleanRunError:
                # The look that follows says what is wrong with the store.
                return
        found = [decode(KillPlace, each) for each in value["places"]]
        for recovering in found[:_MOST_RECOVERIES]:
            self.killed(arguments | recovery, recovering)

    def killed_each(
        self, body: Body, each: Sequence[tuple[dict[str, Any], KillAt]], *, server: bool = False
    ) -> list[TrialResult]:
        """Run a function in a process for each of the arguments, on stores of their own. With
        ``server``, the server is killed as well.
        """
        self.kills += len(each)
        writers = [Writer(body, arguments, kill) for arguments, kill in each]
        results = self.harness.together(writers, deadline_s=self.deadline_s)
        self.hangs += sum(result.died_by is DiedBy.DEADLINE for result in results)
        self._tell_server([arguments for arguments, _ in each], killed=server)
        return results

    def killed_beside(
        self, arguments: dict[str, Any], place: KillPlace, other: dict[str, Any]
    ) -> tuple[TrialResult, TrialResult]:
        """Run the program in a process that dies at a place, beside a second process, which
        uses the same store and goes on. Both must be able to open the store.
        """
        self.kills += 1
        given = {**arguments, "kill": encode(place), "insist": True}
        first, second = self.harness.together(
            [
                Writer(child.write, given, kill_at(place)),
                Writer(child.survive, other),
            ],
            deadline_s=2 * self.deadline_s,
        )
        return first, second

    def looked(
        self, arguments: dict[str, Any], *, afresh: bool, deadline_s: float | None = None
    ) -> View:
        """Return what another process sees; with ``afresh``, a new interpreter that shares
        nothing.
        """
        look = self.harness.look_afresh if afresh else self.harness.look
        view = look(child.look, arguments, deadline_s=deadline_s or self.deadline_s)
        self.hangs += view.died_by is DiedBy.DEADLINE
        return self._compared(view)

    def _compared(self, view: View) -> View:
        """Return the view, with what was forgotten as trouble if it is not forgotten anyway."""
        if view.value is None or "forgotten" not in view.value:
            return view
        seen = {**view.value}
        forgotten = seen.pop("forgotten")
        if self._forgets is None:
            self._forgets = any(self._forgets_now() for _ in range(_TIMES))
        return replace(view, value=seen if self._forgets else seen | {"writing": forgotten})

    def _forgets_now(self) -> bool:
        """Return whether a new store, whose process was never killed, forgets what a look wrote."""
        threads = {"threads": [UNRELATED], **in_each((UNRELATED, "other"))}
        with self.store() as arguments:
            seen = self.harness.look(
                child.look, arguments | threads, deadline_s=self.deadline_s
            ).value
        return seen is None or "forgotten" in seen

    def looked_at_each(self, stores: Sequence[dict[str, Any]]) -> list[View | None]:
        """Return what other processes see of several stores, one process for each.

        None stands for a store that was not looked at, because too many looks had hung before.
        """
        return self._looked(list(batched(stores, max(1, -(-len(stores) // SIDE_BY_SIDE)))))

    def looked_in_turn(self, stores: Sequence[dict[str, Any]]) -> list[View | None]:
        """Return what one process sees of several stores, one after the other; they may be the same
        store.
        """
        return self._looked([stores])

    def _looked(self, shares: Sequence[Sequence[dict[str, Any]]]) -> list[View | None]:
        """Return what other processes see of these stores. One process looks at each group; if a
        store ends it, each store of the group is looked at by a process of its own.
        """
        if self.hangs_too_often or max(map(len, shares), default=0) < 2:
            return [self._looked_alone(store) for share in shares for store in share]
        each = [{"stores": list(share)} for share in shares]
        views = self.harness.looks(child.look_at_each, each, deadline_s=self.deadline_s)
        return [
            seen
            for share, view in zip(shares, views, strict=True)
            for seen in self._told_apart(share, view)
        ]

    def _told_apart(self, stores: Sequence[dict[str, Any]], view: View) -> list[View | None]:
        """Return what one process saw of these stores. If it gave no answer, look at each store
        in a process of its own.
        """
        if view.value is None:
            hung = view.died_by is DiedBy.DEADLINE
            deadline_s = DEADLINE_S / _KNOWN_TO_HANG if hung else self.deadline_s
            return [self._looked_alone(store, deadline_s) for store in stores]
        return [self._compared(replace(view, value=seen)) for seen in view.value]

    def _looked_alone(self, store: dict[str, Any], deadline_s: float | None = None) -> View | None:
        if self.hangs_too_often:
            return None
        return self.looked(store, afresh=False, deadline_s=deadline_s)

    @property
    def hangs_too_often(self) -> bool:
        """Return whether so many processes have hung that no more are started."""
        return self.hangs >= MOST_HANGS


def kill_at(place: KillPlace) -> KillAt:
    """Return how the harness kills at a place: usually the process kills itself."""
    if place.kind is PlaceKind.INSTANT:
        return KillAt.random(place.index, window_s=place.window_s)
    return KillAt.place(1)
