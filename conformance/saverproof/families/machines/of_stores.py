"""State machines of the families about whole stores: separation, filters, deletion, reopening."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import Any

from saverproof.contracts.tables import (
    deletion,
    delta_history,
    filtering,
    interface,
    isolation,
    lifecycle,
    parity,
)
from saverproof.families.machines.machine import SaverMachine
from saverproof.judging.scenes.abandoned_list import AbandonList, left_often
from saverproof.judging.scenes.clones import clone_or_drop
from saverproof.judging.scenes.close_again import CloseAgain
from saverproof.judging.scenes.copy_by_putting import COPIES_BY_PUTTING
from saverproof.judging.scenes.elsewhere import Elsewhere
from saverproof.judging.scenes.event_loop import ON_THE_LOOP, CallOnLoop
from saverproof.judging.scenes.files import CheckFiles
from saverproof.judging.scenes.first_operation import FIRST_OPERATIONS, FirstOperation
from saverproof.judging.scenes.parent_loop import IN_A_LOOP, ParentLoop
from saverproof.judging.scenes.second_saver import BY_TURNS, TakeTurns
from saverproof.judging.scenes.unread import REMOVED, REOPENED
from saverproof.programs.directed.approvals import ANSWERED_AND_KEPT
from saverproof.programs.directed.by_either import BY_EITHER
from saverproof.programs.directed.finite_sets import (
    FILTERS,
    FITS_BEHIND_A_HISTORY,
    HOSTILE_THREADS,
    JOINED,
    NAMESPACES,
    ODD_NAMESPACES,
    SAME_IDS,
)
from saverproof.programs.directed.lookalikes import FILTER_VALUES_ALIKE, HOLDING, STRUCTURED_ALIKE
from saverproof.programs.directed.questions import questions
from saverproof.programs.directed.removals import (
    ALIKE,
    ASKED_BEFORE_AND_AFTER,
    COPIED_PATHS,
    DELTAS,
    DELTAS_OF_RUNS,
    EARLY_COPIED,
    EARLY_DELETED,
    MANY,
    REMOVALS,
)
from saverproof.programs.directed.reopened import KEPT, SET_UP_AGAIN
from saverproof.programs.directed.swept_away import (
    COPY_SELECTED,
    NAMED_AGAIN,
    NEEDS,
    SELECTED_LATER,
    early_beside,
)
from saverproof.programs.makers import (
    batches,
    checkpoints,
    reads,
    saver_lifecycle,
    whole_threads,
)
from saverproof.programs.names import (
    HOSTILE,
    HOSTILE_FILTERS,
    NESTED,
)
from saverproof.programs.small import checkpoint
from saverproof.programs.steps.definitions import Program, Step
from saverproof.programs.theme import Theme
from saverproof.programs.values.metadata import FILTER_KEYS, FILTER_VALUES
from saverproof.programs.weights import GENERAL, PUTS, WRITES, Weights

_TWO_SAVERS = frozenset({"durable", "many_processes"})


def _first(*operations: str) -> Callable[[Random], tuple[Step, ...]]:
    """Return a script that makes each operation the first on a new store, set up and not set up."""

    def scene(choose: Random) -> tuple[Step, ...]:
        return tuple(
            FirstOperation(name, set_up) for name in operations for set_up in (True, False)
        )

    return scene


def _this(program: Program) -> Callable[[Random], Program]:
    """Return a script that is always this program."""
    return lambda _: program


def _isolation() -> tuple[Theme, ...]:
    whole: Weights = {**GENERAL, reads.list_all: 2, reads.list_in_form: 1}
    brief: Weights = {**PUTS, batches.writes: 4, reads.get: 3, reads.list_: 6, reads.list_all: 1}
    forget: Weights = {whole_threads.delete_thread: 1}
    return (
        Theme("threads", {**whole, **forget}, threads=("a", "b", "c"), whole_store=True),
        Theme("namespaces", {**whole, reads.get_elsewhere: 2}, name_sets=NESTED, whole_store=True),
        Theme(
            "hostile threads",
            {**brief, whole_threads.delete_thread: 2},
            name_sets=HOSTILE,
            length=30,
            whole_store=True,
        ),
        Theme("hostile filters", {**PUTS, reads.list_filtered: 6}, filters=HOSTILE_FILTERS),
        Theme("workspaces", {**PUTS, Elsewhere.make: 4}, length=12, whole_store=True),
        Theme(
            "files",
            script=lambda choose: (
                Elsewhere("a", choose.randint(1, 3)),
                CheckFiles("private"),
            ),
        ),
    )


class IsolationMachine(SaverMachine):
    """Threads, namespaces and workspaces, which must be kept apart."""

    enforces = isolation.TABLE.contracts
    themes = _isolation()
    examples = (
        *(*HOSTILE_THREADS, *JOINED, *NAMESPACES, *ODD_NAMESPACES, *SAME_IDS, *FILTERS),
        *ALIKE,
    )


def _filter_() -> tuple[Theme, ...]:
    lists: Weights = {reads.list_filtered: 8, reads.get: 1}
    plain = tuple(v for v in FILTER_VALUES if not isinstance(v, bool))
    some = tuple({key: value} for key in FILTER_KEYS[:2] for value in plain)
    cases = tuple({key: value} for key in FILTER_KEYS for value in ("a", "A", 1, ""))
    flags = tuple({"flag": flag} for flag in (True, False))
    dotted: tuple[Mapping[str, Any], ...] = ({"a.b": 1}, {"a": {"b": 1}}, {"a.b": "x", "a": 1}, {})
    near = (0, 1, -1, 10, 2**31, 2**31 + 1, 2**53, 2**53 + 1, 0.5, 0.3, 0.1 + 0.2)
    numbers = tuple({"score": number} for number in near)
    nested: tuple[Mapping[str, Any], ...] = (
        {"info": {"k": 1}},
        {"info": {"k": 1, "m": 2}},
        {"info": [1, 2]},
        {"info": []},
        {},
    )
    return (
        Theme("values", {**PUTS, **lists}, metadata=some, filters=some),
        Theme("keys", {**PUTS, **lists}, metadata=cases, filters=cases),
        Theme("numbers", {**PUTS, **lists}, metadata=numbers, filters=numbers),
        Theme("booleans", {**PUTS, **lists}, metadata=(*flags, {}), filters=flags),
        Theme(
            "several keys",
            {**PUTS, **lists},
            metadata=tuple({"kind": k, "rank": n} for k in ("x", "y") for n in (1, 2)),
            filters=tuple({"kind": k, "rank": n} for k in ("x", "y") for n in (1, 2, 3)),
        ),
        Theme(
            "none",
            {**PUTS, **lists},
            metadata=({"user": None}, {"user": "ann"}, {}),
            filters=({"user": None},),
        ),
        Theme("nested", {**PUTS, **lists}, metadata=nested, filters=nested[:-1]),
        Theme("dotted", {**PUTS, **lists}, metadata=dotted, filters=({"a.b": 1}, {"a.b": "x"})),
    )


class FilterMachine(SaverMachine):
    """Listings that are filtered by metadata."""

    enforces = filtering.TABLE.contracts
    themes = _filter_()
    examples = (
        *(*FILTER_VALUES_ALIKE, HOLDING, STRUCTURED_ALIKE, questions(limit=None)),
        *FITS_BEHIND_A_HISTORY,
    )


def _deletion() -> tuple[Theme, ...]:
    steps: Weights = {**PUTS, **WRITES, reads.list_: 2}
    copies: Weights = {whole_threads.copy_thread: 5, whole_threads.delete_thread: 3}
    delta: Weights = {
        checkpoints.put_delta: 8,
        batches.writes: 6,
        whole_threads.prune_to_latest: 1,
        checkpoints.put: 1,
    }
    theme = partial(Theme, whole_store=True)
    return (
        theme("threads", {**steps, whole_threads.delete_thread: 3}, threads=("a", "a1", "b")),
        theme(
            "runs",
            {**steps, whole_threads.delete_runs: 2},
            runs=("run-1", "run-2", "run-10"),
            needs=frozenset({"delete_for_runs"}),
        ),
        theme(
            "copies",
            {**steps, batches.writes_early: 5, **copies},
            threads=("a", "b", "c"),
            needs=frozenset({"copy_thread"}),
        ),
        theme(
            "early writes deleted",
            script=lambda _: EARLY_DELETED,
            needs=frozenset({"early_writes", "delete_thread"}),
        ),
        theme(
            "early writes copied",
            script=lambda _: EARLY_COPIED,
            needs=frozenset({"early_writes", "copy_thread"}),
        ),
        *(
            theme(
                f"early writes beside {removal}",
                script=_this(early_beside(removal)),
                needs=frozenset({"early_writes", "history", able}),
            )
            for removal, able in NEEDS.items()
        ),
        theme("pruning", {**steps, whole_threads.prune: 6}, needs=frozenset({"prune"})),
        theme(
            "pruning deltas",
            delta,
            threads=("a",),
            namespaces=("", "child"),
            channels=("log", "count"),
            needs=frozenset({"prune", "delta_history"}),
        ),
    )


class DeletionMachine(SaverMachine):
    """Threads and runs that are deleted, copied and pruned."""

    enforces = deletion.TABLE.contracts
    themes = _deletion()
    examples = (
        *(*REMOVALS, *COPIED_PATHS, *DELTAS, *DELTAS_OF_RUNS, *MANY, *REMOVED),
        *(*SELECTED_LATER, COPY_SELECTED, *NAMED_AGAIN, *ANSWERED_AND_KEPT),
        *COPIES_BY_PUTTING,
    )


def _in_a_loop(operation: str) -> Callable[[Random], tuple[Step, ...]]:
    """Return a script that calls the operation on a thread whose chain of parents is a loop."""
    return lambda _: (ParentLoop(operation),)


def _delta_history() -> tuple[Theme, ...]:
    steps: Weights = {
        checkpoints.put_delta: 8,
        checkpoints.put: 2,
        batches.writes: 8,
        batches.writes_again: 1,
    }
    return (
        Theme(
            "deltas",
            {**steps, reads.delta_history: 6},
            channels=("log", "count", "notes"),
            tasks=tuple(range(5)),
            paths=("", "~p, 1", "~p, 10", "~p, 2"),
            needs=frozenset({"delta_history"}),
        ),
        *(
            Theme(
                f"{name} in a loop",
                script=_in_a_loop(name),
                needs=frozenset({"delta_history", able}),
            )
            for name, able in IN_A_LOOP.items()
        ),
    )


class DeltaHistoryMachine(SaverMachine):
    """Delta channels: channels that are stored as changes, and read as histories."""

    enforces = delta_history.TABLE.contracts
    themes = _delta_history()
    examples = ASKED_BEFORE_AND_AFTER


def _parity() -> tuple[Theme, ...]:
    forms: Weights = {reads.get_in_form: 2, reads.list_in_form: 1, reads.list_filtered: 1}
    return (
        Theme(
            "crossed",
            {**GENERAL, **forms, whole_threads.delete_thread: 1},
            groups=("plain", "falsy", "scalar", "container"),
            whole_store=True,
        ),
        Theme("deltas", DeltaHistoryMachine.themes[0].weights, needs=frozenset({"delta_history"})),
        Theme(
            "on the loop",
            script=lambda _: tuple(CallOnLoop(name, "a", 1) for name in ON_THE_LOOP),
        ),
    )


class ParityMachine(SaverMachine):
    """The sync and the async API, used in turns on the same data."""

    apis = ("sync", "async")
    enforces = parity.TABLE.contracts
    themes = _parity()
    # One put more, and each question is asked through the other API.
    examples = (questions(limit=1), (checkpoint("c", 9), *questions(limit=1)), *BY_EITHER)


def _restarted() -> tuple[Theme, ...]:
    """Return the themes that close savers, and open and set them up again."""
    life: Weights = {saver_lifecycle.set_up: 1, CloseAgain.make: 2, AbandonList.make: 2}
    return (
        Theme(
            "restarts",
            {**GENERAL, **life, saver_lifecycle.reopen: 2},
            needs=frozenset({"durable"}),
            length=40,
            whole_store=True,
        ),
        *(
            Theme(name, script=_this(program), needs=frozenset({"durable"}), whole_store=True)
            for name, program in (
                ("unread", REOPENED),
                ("set up again", SET_UP_AGAIN),
                ("closed again", (checkpoint("a", 1), CloseAgain())),
            )
        ),
        *(
            Theme(f"{name}, {when}", script=_this(program), needs=kept.needs, whole_store=True)
            for name, kept in KEPT.items()
            for when, program in (
                ("opened again", kept.at_once()),
                ("opened again after much work", kept.after_much_work()),
            )
        ),
    )


def _lifecycle() -> tuple[Theme, ...]:
    later = ("delete_thread", "delete_for_runs", "copy_thread", "prune")
    return (
        Theme("abandoned", {**GENERAL, AbandonList.make: 4}, whole_store=True),
        Theme("abandoned often", script=left_often),
        Theme(
            "clones",
            {**GENERAL, clone_or_drop: 3},
            needs=frozenset({"serializer"}),
            length=40,
            whole_store=True,
        ),
        *_restarted(),
        Theme(
            "first operations",
            script=_first(*FIRST_OPERATIONS),
        ),
        *(
            Theme(
                f"first {name}",
                script=_first(name),
                needs=frozenset({name}),
            )
            for name in later
        ),
        Theme(
            "two savers",
            {**GENERAL, TakeTurns.make: 4, whole_threads.delete_thread: 1},
            needs=_TWO_SAVERS,
            length=40,
            whole_store=True,
        ),
        *(
            Theme(
                f"two savers, {name or 'put'}",
                script=_this(program),
                needs=_TWO_SAVERS.union(filter(None, [name])),
                whole_store=True,
            )
            for name, program in BY_TURNS.items()
        ),
    )


class LifecycleMachine(SaverMachine):
    """Savers that are closed, opened again, set up again and cloned."""

    enforces = lifecycle.TABLE.contracts
    themes = _lifecycle()


def _interface() -> tuple[Theme, ...]:
    return (Theme("operations", {**GENERAL}, length=30),)


class InterfaceMachine(SaverMachine):
    """The operations that every saver must have."""

    enforces = interface.TABLE.contracts
    themes = _interface()
