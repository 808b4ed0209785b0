"""The shortest program with faults that shows what a random one has come to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from saverproof.families.atomicity.bench import Bench
from saverproof.families.atomicity.random_programs import Recorded, Turn
from saverproof.families.atomicity.random_trial import Stumble, Walk
from saverproof.families.atomicity.worker import HungError
from saverproof.programs.simplifying import simpler
from saverproof.programs.spans import with_simpler_items, without_spans
from saverproof_faults import FaultsError, Places

_MOST_TRIED = 120

Turns = tuple[Turn, ...]


def retraced(bench: Bench, stumble: Stumble) -> Stumble:
    """A program without any step or fault that can be spared; at worst the one given."""
    trials = _Trials(bench, stumble)
    turns, before = _turns(stumble), Turns()
    while turns != before:
        before = turns
        turns = without_spans(turns, trials.tried)
        turns = with_simpler_items(turns, trials.tried, _simpler)
    return trials.shortest


def _turns(stumble: Stumble) -> Turns:
    return tuple(Turn(step, stumble.faults.get(at)) for at, step in enumerate(stumble.program))


def _simpler(turn: Turn, turns: Turns) -> Iterator[Turn]:
    """The turn without its fault, if there is another; then with simpler steps."""
    if turn.attack is not None and sum(other.attack is not None for other in turns) > 1:
        yield replace(turn, attack=None)
    for step in simpler(turn.step, tuple(other.step for other in turns)):
        yield replace(turn, step=step)


@dataclass(slots=True)
class _Trials:
    """Runs parts of a program; ``shortest`` is the last that broke the same contract."""

    bench: Bench
    shortest: Stumble
    left: int = _MOST_TRIED

    def tried(self, turns: Turns) -> Turns | None:
        """What is left of a program if it still breaks the contract."""
        if self.left <= 0 or not turns:
            return None
        self.left -= 1
        again = self._again(turns)
        if again is None or again.verdict.contract != self.shortest.verdict.contract:
            return None
        self.shortest = again
        return _turns(again)

    def _again(self, turns: Turns) -> Stumble | None:
        faults = {at: turn.attack for at, turn in enumerate(turns) if turn.attack is not None}
        program = tuple(turn.step for turn in turns)
        walk = Walk(self.bench, Recorded(program, faults))
        try:
            return self.bench.on_worker(walk.run)
        except HungError:
            self.bench.renew()
            return None


def places_of(bench: Bench, stumble: Stumble, position: int) -> Places:
    """What a step of the program passes that is not failed there."""
    walk = Walk(bench, Recorded(stumble.program, {}), counted=position)
    with suppress(FaultsError):
        try:
            bench.on_worker(walk.run)
        except HungError:
            bench.renew()
    return walk.places
