"""Corrects a clean run by what other processes see of it, before a kill is blamed for a
difference.
"""

from __future__ import annotations

from collections.abc import Sequence

from saverproof.programs.steps.definitions import DeleteForRuns, DeleteThread, Program, Prune
from saverproof.savers.execution.view import ShownFacts, canonical

_REMOVING = (DeleteForRuns, DeleteThread, Prune)
_NOTHING = canonical(None)
"""The value of the latest checkpoint where there is none."""


def up_to_date(
    program: Program, own: Sequence[ShownFacts], elsewhere: Sequence[ShownFacts]
) -> tuple[ShownFacts, ...]:
    """Return what has to be there after each operation of a program.

    This is what the saver of the run showed (``own``). Where that saver still shows an old state,
    it is what other processes see (``elsewhere``). Otherwise a saver with a stale cache would be
    accused of having lost what is new. What only the run's own saver shows stays in: it may never
    have been stored, or was lost when the saver was closed.
    """
    removing = [isinstance(step, _REMOVING) for step in program]
    states = []
    for number, (shown, seen) in enumerate(zip(own, elsewhere, strict=True)):
        state = dict(shown)
        for name in {*shown, *seen}:
            mine, theirs = (
                [_value(each, name) for each in side[: number + 1]] for side in (own, elsewhere)
            )
            changed = _last_change(theirs)
            removed = changed > 0 and removing[changed - 1]
            # A state that this saver has shown before is no news, even if others see it now.
            news = removed or theirs[-1] not in mine
            if news and _shows_what_was(mine, theirs):
                state.pop(name, None)
                state |= {name: seen[name]} if name in seen else {}
        states.append(state)
    return tuple(states)


def _shows_what_was(mine: Sequence[str | None], theirs: Sequence[str | None]) -> bool:
    """Return whether a fact's last value is an old one: other processes saw it at an earlier time,
    or have seen the fact change since it last changed here.
    """
    now = mine[-1]
    if now == theirs[-1]:
        return False
    was_there = now is not None and now in theirs[:-1]
    return was_there or _last_change(mine) < _last_change(theirs)


def _last_change(values: Sequence[str | None]) -> int:
    """Return the number of the operation after which a fact changed last; 0 if it never changed."""
    changed = (number for number in range(1, len(values)) if values[number] != values[number - 1])
    return max(changed, default=0)


def _value(shown: ShownFacts, name: str) -> str | None:
    value = shown.get(name)
    return None if value == _NOTHING else value


def is_behind(own: str | None, elsewhere: str | None) -> bool:
    """Return whether a saver shows an older latest checkpoint than other processes see."""
    return elsewhere is not None and (own is None or own < elsewhere)
