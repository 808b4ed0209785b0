"""Runs programs on fresh workspaces. Programs are made step by step, or given and run again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from saverproof.families.machines.explaining.patience import Patience
from saverproof.families.machines.explaining.sharing import may_share
from saverproof.judging.attribution.feature import Feature
from saverproof.judging.facts import Fact
from saverproof.judging.session import Breach, Session
from saverproof.programs.axes.axis import Axis
from saverproof.programs.axes.log import AxisLog
from saverproof.programs.generating import next_step
from saverproof.programs.steps.definitions import Program, Step
from saverproof.programs.theme import Theme
from saverproof.savers.execution.store import Store, WorkspaceMaker
from saverproof.savers.targets.event_loop import Loop
from saverproof.savers.targets.opening import fresh_workspace
from saverproof.savers.targets.target import Target


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """One run of a program: its legal steps and the breaches that they showed.

    ``masked`` are breaches where something was known to be wrong before. ``thorough`` tells that
    everything was looked at after each step, ``watch_inputs`` that arguments were compared before
    and after calls, ``finished`` that the run came to its end. ``apis`` is empty for the trials'
    own APIs. ``refusals`` says of each prune and each deletion for runs whether it was refused.
    ``prefix`` begins the names of its threads, in a store that several programs share. ``blind``
    are facts whose look after so many steps could not show anything.
    """

    program: Program
    breaches: tuple[Breach, ...]
    masked: tuple[Breach, ...] = ()
    thorough: bool = False
    watch_inputs: bool = False
    finished: bool = True
    apis: tuple[str, ...] = ()
    refusals: tuple[bool, ...] = ()
    prefix: str = ""
    blind: frozenset[tuple[Fact, int]] = frozenset()
    notes: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """Results computed from the run, kept by their users for the next question."""


class Stepper:
    """A driver that takes the steps of one program. They are given, or made by a theme."""

    def __init__(self, session: Session, theme: Theme) -> None:
        self.session = session
        self.theme = theme

    def take(self, step: Step) -> None:
        """Take a step if it is legal now, and judge it."""
        self.session.take(step)

    def step(self, choose: Random) -> None:
        """Take a step of one of the theme's makers, chosen by weight."""
        self.take(next_step(self.session.model, choose, self.theme))


NOTHING = Theme("nothing")
"""The theme of given programs, which makes no steps."""


@dataclass(slots=True)
class Trials:
    """The way in which programs run: on one target, through some of its APIs.

    ``machine`` takes the steps, except those of the kinds that are ``avoided``. ``shared`` is a
    store that several programs may use, if they need none of their own: programs made by themes,
    and given programs while ``sharing``. ``patience`` ends follow-ups that take too long. ``axes``
    records which points met in one program. ``places`` makes the workspaces.
    """

    target: Target
    folder: Path
    loop: Loop
    apis: tuple[str, ...]
    features: tuple[Feature, ...] = ()
    shallow: bool = False
    on_step: Callable[[Step, int], None] | None = None
    avoided: frozenset[str] = frozenset()
    shared: Store | None = None
    machine: Callable[[Session, Theme], Stepper] = Stepper
    patience: Patience = field(default_factory=Patience)
    calls: int = 0
    seconds: float = 0.0
    checked: dict[str, int] = field(default_factory=dict)
    axes: tuple[Axis, ...] = ()
    places: WorkspaceMaker = fresh_workspace
    touched: AxisLog = field(default_factory=AxisLog)
    _number: int = 0
    _sharing: bool = False

    def make(
        self, theme: Theme, choose: Random, ending: Callable[[Random], Program] = lambda _: ()
    ) -> ProgramRun:
        """Run one program of a theme, made step by step; ``ending`` makes its last steps."""
        if theme.script is not None:
            return self.replay(theme.script(choose), watch_inputs=theme.watch_inputs, count=True)
        with self.session(theme) as session:
            machine = self.machine(session, theme)
            for _ in range(theme.length):
                machine.step(choose)
            for step in ending(choose):
                machine.take(step)
            session.finish()
        return run_of(session)

    @contextmanager
    def session(self, theme: Theme) -> Iterator[Session]:
        """Open a session for a program of a theme, on the shared store if the theme allows it."""
        with self._store(self.apis, shares=not theme.whole_store) as (store, prefix):
            session = self._session(store, theme, prefix)
            yield session
            self._count(session)

    @contextmanager
    def sharing(self) -> Iterator[None]:
        """Let given programs use the shared store within the block, if they may."""
        self._sharing = True
        try:
            yield
        finally:
            self._sharing = False

    @contextmanager
    def _store(self, apis: tuple[str, ...], *, shares: bool) -> Iterator[tuple[Store, str]]:
        """Open the store for one program, and yield it with the prefix of the program's threads.
        Count the calls.
        """
        self._number += 1
        if self.shared is not None and shares and apis == self.apis:
            with self._charged(self.shared):
                yield self.shared, f"p{self._number}-"
            return
        with (
            Store(self.target, self.folder, self.loop, apis, places=self.places) as store,
            self._charged(store),
        ):
            yield store, ""

    @contextmanager
    def _charged(self, store: Store) -> Iterator[None]:
        calls, seconds = store.total_calls, store.total_seconds
        try:
            yield
        finally:
            self.calls += store.total_calls - calls
            self.seconds += store.total_seconds - seconds

    def _session(self, store: Store, theme: Theme, prefix: str) -> Session:
        return Session(
            store,
            thorough=False,
            watch_inputs=theme.watch_inputs,
            prefix=prefix,
            features=self.features,
            shallow=self.shallow,
            on_step=self.on_step,
            avoided=self.avoided,
        )

    def replay(
        self,
        program: Iterable[Step],
        *,
        thorough: bool = True,
        watch_inputs: bool = False,
        count: bool = False,
        until: str | None = None,
        apis: tuple[str, ...] = (),
        finishes: bool = True,
        prefix: str = "",
    ) -> ProgramRun:
        """Run given steps on a workspace of their own, without the illegal ones.

        With ``until`` the run ends at the first breach of that contract. With ``apis`` only these
        are used. Without ``finishes`` the store is not looked at after the last step. With
        ``prefix`` the names of threads begin as they do in a store that programs share.
        """
        self.patience.check(self.calls)
        taken = tuple(program)
        shares = self._sharing and may_share(taken)
        with self._store(apis or self.apis, shares=shares) as (store, own_prefix):
            session = Session(
                store,
                thorough=thorough,
                watch_inputs=watch_inputs,
                prefix=own_prefix or prefix,
                features=self.features,
                shallow=self.shallow,
                on_step=self.on_step,
                avoided=self.avoided,
                touching=count,
            )
            machine, before = self.machine(session, NOTHING), self.calls - store.total_calls
            for step in taken:
                self.patience.check(before + store.total_calls)
                known = len(session.breaches)
                machine.take(step)
                if any(breach.contract == until for breach in session.breaches[known:]):
                    finishes = False
                    break
            if finishes:
                session.finish()
            if count:
                self._count(session)
            return run_of(session, finished=finishes, apis=apis)

    def _count(self, session: Session) -> None:
        for contract, times in session.checked.items():
            self.checked[contract] = self.checked.get(contract, 0) + times
        self.touched.add(session.touched, self.axes)


def run_of(session: Session, *, finished: bool = True, apis: tuple[str, ...] = ()) -> ProgramRun:
    """Return the steps and breaches of a session so far as a run."""
    return ProgramRun(
        tuple(session.taken),
        tuple(session.breaches),
        tuple(session.masked),
        session.thorough,
        session.watch_inputs,
        finished,
        apis,
        tuple(session.refusals),
        session.prefix,
        frozenset(session.blind),
    )


def programs(themes: Iterable[Theme], steps: int) -> Iterator[tuple[Theme, int]]:
    """Yield the theme and number of each program of the random driver, ``steps`` steps in all.

    Scripted themes come first, then the others in turn.
    """
    chosen = list(themes)
    made = [theme for theme in chosen if theme.script is None]
    yield from ((theme, 0) for theme in chosen if theme.script is not None)
    share = steps // max(len(made), 1)
    counts = {theme.name: max(share // theme.length, 1) for theme in made}
    for number in range(max(counts.values(), default=0)):
        yield from ((theme, number) for theme in made if number < counts[theme.name])
