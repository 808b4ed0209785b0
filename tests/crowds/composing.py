"""Makes one saver of several known mistakes, of those that can stand together in one class.

A mistake stands in a crowd if it still shows there: the scene of its contract is answered otherwise
than by the right saver, and otherwise than by the same crowd without it. That asks nothing of the
kit's judges, which the crowd is to measure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from saverproof.contracts.registry import contract
from saverproof.mistakes import Mistake, opener
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import ReferenceStore
from saverproof.savers.targets.target import Target
from tests.conformance.judging_support import EVERY_OPERATION, facts_from
from tests.crowds.flawed import Flaw, api_of, families_of
from tests.wrong_savers.test_misbehaviour import answers


@dataclass(frozen=True)
class Crowd:
    """One saver with several known mistakes; the first is the most derived class."""

    mistakes: tuple[Mistake, ...]

    @property
    def name(self) -> str:
        """The names of its mistakes."""
        return " + ".join(mistake.name for mistake in self.mistakes)

    @cached_property
    def flaws(self) -> tuple[Flaw, ...]:
        """Its mistakes as flaws."""
        return tuple(Flaw(each.name, each.breaks, each.note) for each in self.mistakes)

    @property
    def families(self) -> list[str]:
        """The families of the contracts that it breaks."""
        return families_of(self.flaws)

    def served(self) -> AbstractContextManager[Any]:
        """Run what it needs: nothing."""
        return nullcontext()

    @cached_property
    def saver(self) -> type[ReferenceSaver]:
        """The class of the saver.

        Raises:
            TypeError: the classes cannot be the bases of one.
        """
        bases = tuple(mistake.saver for mistake in self.mistakes) or (ReferenceSaver,)
        return type("Crowd", bases, {})

    @property
    def setup(self) -> bool:
        """Whether opening it sets it up."""
        return all(mistake.setup for mistake in self.mistakes)

    def without(self, names: Collection[str]) -> Crowd:
        """The saver without the mistakes of these names."""
        return Crowd(tuple(each for each in self.mistakes if each.name not in names))

    def target(self, mended: Collection[str] = ()) -> Target:
        """The saver as a target, without the mistakes of these names."""
        left = self.without(mended)
        opened = opener(left.saver, setup=left.setup)
        return Target(
            name="crowd", open=opened, drop=lambda workspace: ReferenceStore.forget(workspace.path)
        )

    def facts(self) -> dict[str, Any]:
        """What judging has to know: it has what the reference saver has."""
        return facts_from(EVERY_OPERATION)

    @cached_property
    def stands(self) -> bool:
        """Whether each of its mistakes shows beside the others."""
        try:
            return bool(self.saver) and all(map(_is_steady, self.mistakes)) and self._all_show
        except TypeError:
            return False

    @property
    def _all_show(self) -> bool:
        return all(map(self.shows, self.mistakes))

    def shows(self, mistake: Mistake) -> bool:
        """Whether a mistake of it shows beside the others."""
        found = said(self, mistake.breaks)
        beside = said(self.without([mistake.name]), mistake.breaks)
        return bool(found != said(Crowd(()), mistake.breaks) and found != beside)


@lru_cache(10_000)
def said(crowd: Crowd, broken: str) -> Any:
    """What a saver answers in the scene of a contract."""
    return asked(crowd, broken)


@lru_cache(1_000)
def _is_steady(mistake: Mistake) -> bool:
    """Whether the scene of a mistake is answered alike each time."""
    alone = Crowd((mistake,))
    return bool(said(alone, mistake.breaks) == asked(alone, mistake.breaks))


def asked(crowd: Crowd, broken: str) -> Any:
    """Play the scene of a contract, and return what the saver answers."""
    api = api_of(contract(broken).family)
    with TemporaryDirectory() as folder:
        try:
            return answers(crowd.saver, broken, api, Path(folder) / "saver", setup=crowd.setup)
        except Exception as error:  # noqa: BLE001 - a scene may stumble over what it was answered
            return f"the scene raised {type(error).__name__}"


def composed(mistakes: Sequence[Mistake]) -> Crowd | None:
    """A saver with two mistakes, in the order in which both show; None if there is none."""
    orders = (Crowd(tuple(order)) for order in permutations(mistakes))
    return next((crowd for crowd in orders if crowd.stands), None)


def grown(mistakes: Iterable[Mistake], size: int) -> Crowd | None:
    """A saver with so many of the mistakes, taken in turn as long as all of them show."""
    crowd = Crowd(())
    for mistake in mistakes:
        for order in ((mistake, *crowd.mistakes), (*crowd.mistakes, mistake)):
            larger = Crowd(order)
            if larger.stands:
                crowd = larger
                break
        if len(crowd.mistakes) == size:
            return crowd
    return None
