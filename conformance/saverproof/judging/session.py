"""Takes the steps of a program on a saver one by one, follows them in the model, judges each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from saverproof.errors import describe
from saverproof.execution.driver import Driver, writer_at
from saverproof.execution.store import Store
from saverproof.execution.versions import versions_of
from saverproof.judging.blame import blame
from saverproof.judging.features import Feature, is_hostile
from saverproof.judging.sheet import Difference, Sheet
from saverproof.model.records import Address, Version
from saverproof.model.store import Model
from saverproof.process import heartbeat as pulse
from saverproof.programs.legality import objection
from saverproof.programs.renaming import threads
from saverproof.steps.definitions import Put, Step


@dataclass(frozen=True, slots=True)
class Raised:
    """An operation that raised instead of answering."""

    error: BaseException

    def __str__(self) -> str:
        return f"raised {describe(self.error)}"


@dataclass(frozen=True, slots=True)
class Breach:
    """A difference with the contract it is blamed on, and the step that showed it.

    ``stray`` says that the saver had lost or invented checkpoints before the step, so that the
    difference may follow from that.
    """

    contract: str
    difference: Difference
    position: int
    step: Step
    stray: bool = False


class Session:
    """One run of one program.

    ``thorough`` looks at everything after every step that writes, so that each difference is
    seen right after the step that made it; otherwise only what a step touched is read back.
    ``watch_inputs`` compares the arguments of each call before and after. ``features`` are those
    of which judging a step is to count as evidence. ``shallow`` is for a saver that keeps only
    the newest checkpoint of a namespace. ``on_step`` is told of each step, and of how many were
    taken before it, before it is taken.
    """

    def __init__(
        self,
        store: Store,
        *,
        thorough: bool,
        watch_inputs: bool = False,
        prefix: str = "",
        features: tuple[Feature, ...] = (),
        shallow: bool = False,
        on_step: Callable[[Step, int], None] | None = None,
    ) -> None:
        self.store = store
        self.thorough = thorough
        self.watch_inputs = watch_inputs
        self.prefix = prefix
        self.features = features
        self.shallow = shallow
        self.on_step = on_step
        self.model = Model()
        self.refused: set[str] = set()
        """Hostile thread ids that the saver refused; they are left alone from then on."""
        self.unreadable: set[Address] = set()
        """Checkpoints that raise when they are read: told once, and nothing that shows them."""
        self.sheet = Sheet()
        self.taken: list[Step] = []
        self.breaches: list[Breach] = []
        self.last_change: Step | None = None
        self._turn = 0

    # --- asking the saver ------------------------------------------------------------------

    @property
    def driver(self) -> Driver:
        """The driver to write with; they take turns where several APIs are in use."""
        drivers = self.store.drivers
        self._turn += 1
        return drivers[writer_at(self._turn, len(drivers))]

    @property
    def reader(self) -> Driver:
        """The driver to read with: where several APIs are in use, not the one that wrote last."""
        drivers = self.store.drivers
        return drivers[writer_at(self._turn, len(drivers)) - 1]

    def real(self, thread: str) -> str:
        """The thread id that the saver sees."""
        return self.prefix + thread

    def attempt(self, operation: Callable[[], Any]) -> Any:
        """Do it; an exception of the saver becomes a :class:`Raised`."""
        pulse.beat(len(self.taken))
        try:
            answer = operation()
            # Some objects raise whatever is asked of them, their class included.
            isinstance(answer, Raised)
            return answer
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a saver may raise anything
            return Raised(error)
        finally:
            pulse.answered()

    @property
    def takes_paths(self) -> bool:
        """Whether put_writes has a parameter for the task path."""
        return self.reader.takes_paths

    def next_version(self, current: Version | None) -> Version:
        """A channel version from the saver itself."""
        return versions_of(self.store.saver)(current)

    # --- taking steps ----------------------------------------------------------------------

    def take(self, step: Step) -> list[Breach]:
        """Take one step if it is legal here; gives the breaches it showed."""
        if objection(step, self.model) is not None or self._too_old(step):
            return []
        if self.refused.intersection(threads(step)):
            return []
        if self.on_step is not None:
            self.on_step(step, len(self.taken))
        known, stray = len(self.sheet.differences), self.model.strayed
        new_to_it = self._unknown_hostile(step)
        self.taken.append(step)
        perform(step, self)
        if new_to_it and self._was_refused(known):
            self.refused |= new_to_it
            del self.sheet.differences[known:]
            self.sheet.agree("isolation/hostile-identifiers")
        return self._blamed(step, known, stray=stray)

    def _unknown_hostile(self, step: Step) -> set[str]:
        """The hostile threads of a step of which the saver accepted nothing yet."""
        accepted = {*self.model.threads, *(address[0] for address in self.model.writes)}
        return {name for name in threads(step) if is_hostile(name)} - accepted

    def _was_refused(self, known: int) -> bool:
        """Whether all that went wrong is that the saver said no, which it may to a hostile id."""
        fresh = self.sheet.differences[known:]
        return bool(fresh) and all(isinstance(d.observed, Raised) for d in fresh)

    def _too_old(self, step: Step) -> bool:
        """Whether a shallow saver would have no use for a put, which is older than the newest."""
        if not self.shallow or not isinstance(step, Put):
            return False
        latest = self.model.latest(step.thread, step.namespace)
        return latest is not None and step.number < latest

    def finish(self) -> list[Breach]:
        """Look at everything once more at the end of a program."""
        from saverproof.judging.parity import compare_apis
        from saverproof.judging.store_check import survey

        known, stray = len(self.sheet.differences), self.model.strayed
        if self.taken:
            survey(self)
            if len(self.store.drivers) > 1:
                compare_apis(self)
        return self._blamed(self.last_change or Step(), known, stray=stray)

    def _blamed(self, step: Step, known: int, *, stray: bool) -> list[Breach]:
        fresh = [
            Breach(blame(difference, step, self.model), difference, len(self.taken), step, stray)
            for difference in self.sheet.differences[known:]
        ]
        self.breaches += fresh
        return fresh


@singledispatch
def perform(step: Step, session: Session) -> None:
    """Do what a step says on the saver and in the model, and judge the answers."""
    raise NotImplementedError(f"no way to take a {type(step).__name__} step")
