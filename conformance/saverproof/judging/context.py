"""The context in which steps are judged: the saver, its model, and the facts noted so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

from saverproof.judging.facts import Difference, Fact, FactLog, Raised
from saverproof.process import heartbeat
from saverproof.programs.model.records import Address, Version
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import OwnStep, Step
from saverproof.savers.execution.driver import ApiDriver, writer_at
from saverproof.savers.execution.store import Store
from saverproof.savers.execution.versions import versions_of

if TYPE_CHECKING:
    # Importing it here would be circular: features import scenes, and scenes import this module.
    from saverproof.judging.attribution.feature import Feature


class OwnRules(Protocol):
    """The rules and invariants of an author, as judging uses them."""

    def objection(self, step: OwnStep) -> str | None:
        """Return why the step may not be taken now, or None if it may."""
        ...

    def perform(self, step: OwnStep) -> object:
        """Carry out the step; an exception says what is wrong."""
        ...

    def invariants_of_author(self) -> Iterable[tuple[str, Callable[[], object]]]:
        """Return the author's invariants: contract id, and a check that raises if it is broken."""
        ...


class Context:
    """One run of one program, as the judging of its steps sees it.

    ``thorough`` looks at the whole store after every step that writes, so that each difference is
    seen right after the step that made it. Otherwise only what a step touched is read back.
    ``watch_inputs`` compares the arguments of each call before and after. Judging a step counts as
    evidence for the ``features`` it has. ``shallow`` is for a saver that keeps only the newest
    checkpoint of a namespace.
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
    ) -> None:
        self.store = store
        self.thorough = thorough
        self.watch_inputs = watch_inputs
        self.prefix = prefix
        self.features = features
        self.shallow = shallow
        self.model = Model()
        self.unreadable: dict[Address, Difference] = {}
        """Checkpoints whose read raises, with the difference. It is noted once, and explains other
        calls that raise for the same reason.
        """
        self.facts = FactLog()
        self.taken: list[Step] = []
        self.elsewhere: set[tuple[str, int]] = set()
        """Thread and number of each checkpoint that was put into another workspace."""
        self.own: OwnRules | None = None
        self.last_change: Step | None = None
        self.refusals: list[bool] = []
        """For each prune and deletion for runs, in order: True if the saver refused it."""
        self.blind: set[tuple[Fact, int]] = set()
        """Facts that were looked at and could not show anything, each with the number of steps
        taken by then: both sides of the comparison came from wrong answers.
        """
        self.reads = True
        """True if what a step has stored is read after it."""
        self._turn = 0

    @property
    def driver(self) -> ApiDriver:
        """The driver to write with. With several APIs, drivers take turns."""
        drivers = self.store.drivers
        self._turn += 1
        return drivers[writer_at(self._turn, len(drivers))]

    @property
    def reader(self) -> ApiDriver:
        """The driver to read with: with several APIs, not the one that wrote last."""
        drivers = self.store.drivers
        return drivers[writer_at(self._turn, len(drivers)) - 1]

    def real(self, thread: str) -> str:
        """Return the thread id that the saver is given for a thread of the program."""
        return self.prefix + thread

    def note_blind(self, fact: Fact) -> None:
        """Note that a fact was looked at where nothing could have been seen to differ."""
        self.blind.add((fact, len(self.taken)))

    def attempt(self, operation: Callable[[], Any]) -> Any:
        """Return what an operation returns, or a :class:`Raised` if the saver raises."""
        heartbeat.beat(len(self.taken))
        try:
            answer = operation()
            # Some objects raise on every access, even of their class.
            isinstance(answer, Raised)
            return answer
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a saver may raise anything
            return Raised(error)
        finally:
            heartbeat.answered()

    def is_for_the_unreadable(self, fact: Fact, expected: str, error: Raised) -> bool:
        """Return whether a checkpoint that cannot be read may be the reason why a call raised.

        If so, the difference is noted as explained by the one about that checkpoint.
        """
        if not self.unreadable:
            return False
        behind = next(iter(self.unreadable.values()))
        behind.explains.append(Difference(fact, None, expected, error))
        return True

    def next_version(self, current: Version | None) -> Version:
        """Return the channel version that the saver makes after ``current``."""
        return versions_of(self.store.saver)(current)
