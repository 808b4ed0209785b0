"""Repeats a call of a random program after its fault. The call must work then, and nothing of the
failed call may be left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from saverproof.errors import describe
from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.programs.random_judging import (
    Expected,
    stored_by,
    torn_by,
    unusable_after,
)
from saverproof.families.atomicity.programs.random_stores import RandomStores
from saverproof.families.atomicity.trials.worker import call_quietly
from saverproof.families.atomicity.verdicts import LATE, USABLE, FaultVerdict, broken
from saverproof.programs.steps.definitions import CopyThread
from saverproof.savers.execution.settled_calls import Key, SettledCall, perform
from saverproof.savers.execution.view import Wanted


@dataclass(frozen=True, slots=True)
class CallAgain:
    """Repeats one call. ``puts`` are the calls that put each checkpoint of the program."""

    stores: RandomStores
    wanted: Wanted
    puts: Mapping[Key, SettledCall]

    def wrong(
        self, call: SettledCall, expected: Expected, injection: Injection | None
    ) -> FaultVerdict | None:
        """Make an unrelated write, which must change nothing here, and then repeat the call, which
        must work now. Return what is wrong.
        """
        stores, unusable = self.stores, unusable_after(injection)
        seen = stores.seen(self.wanted)
        for other in stores.unrelated:
            error = call_quietly(partial(perform, stores.driver, other))
            if error is not None:
                return broken(unusable, "an unrelated write fails", "to work", str(error))
        if stores.seen(self.wanted) != seen:
            summary = "it failed, and is stored once something else is"
            late = unusable if unusable != USABLE else LATE
            return broken(late, summary, "what was there before")
        if seen == expected.after:
            if isinstance(call.step, CopyThread):
                # The copy is done. Its target now holds something, so it cannot be copied to again.
                return None
            if (left := self._left_behind(call, expected, injection)) is not None:
                return left
        error = call_quietly(partial(stores.perform, stores.driver, call))
        if error is not None:
            return broken(unusable, "the same call again fails", "to work", describe(error))
        now = stores.seen(self.wanted)
        if now == expected.after:
            return None
        if now in (seen, *expected.earlier):
            return broken(stored_by(injection), "the same call again returned, and is not stored")
        return broken(unusable, "the same call again stores something else")

    def _left_behind(
        self, call: SettledCall, expected: Expected, injection: Injection | None
    ) -> FaultVerdict | None:
        """Put again the checkpoints that the call has removed. Return what comes back with them
        although it does not with the saver that never fails.
        """
        stores = self.stores
        removed = sorted(expected.before.keys() - expected.after.keys())
        puts = [self.puts[key] for key in removed if key in self.puts]
        if not puts:
            return None
        refused = [call_quietly(partial(perform, stores.reference, put)) for put in puts]
        errors = [call_quietly(partial(perform, stores.driver, put)) for put in puts]
        whole = stores.seen(self.wanted) == stores.expected(self.wanted)
        stores.perform(stores.reference, call)
        if any(refused) or (whole and not any(errors)):
            return None
        if error := next(filter(None, errors), None):
            summary = "what it has removed cannot be put again"
            return broken(unusable_after(injection), summary, "to work", describe(error))
        summary = "part of what it should remove comes back with its checkpoint"
        observed = "what was put again, and some of what had been removed with it"
        return broken(torn_by(injection), summary, "what was put again", observed)
