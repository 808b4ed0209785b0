"""Let a child process judge a plan, and once more if that process dies."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from saverproof.contracts.registry import contracts, family_table
from saverproof.errors import JudgeError, SaverproofError
from saverproof.families.answer import Blame, ReplayAnswer, unclear
from saverproof.families.items import Finding, ItemPlan, Outcome
from saverproof.families.replay_process import run_again
from saverproof.families.requests import (
    BLAME,
    CLEAN,
    IS_SPENT,
    JUDGE,
    RELEASE,
    REPLAY,
    Death,
    Leftovers,
    Recorded,
)
from saverproof.process.client import JudgeGone, Listener
from saverproof.process.requests import Child
from saverproof.run.plugin.deaths import (
    Shortener,
    Steps,
    held_by,
    kind_of_last,
    read_journal,
    with_the_rest,
)
from saverproof.run.plugin.judged import Judged, cut_off, ended_once, joined, unfinished, unjudged
from saverproof.run.plugin.run import Run
from saverproof.savers.targets.opening import left_below

_LESS_PATIENT = 3
"""The watchdog's time is divided by this for a saver that has hung twice for the whole time, and
for the second of two runs that are cut off. If a step of another kind hangs for the shorter time,
it is run again with the whole time.
"""


_MOST_LEFT_OUT = 3
"""The most kinds of steps that are left out of a plan: each takes two runs to find. A saver with
more of them has enough to mend.
"""


class Judge:
    """A judge of one plan after the other. It keeps one process, and starts a new one after a
    death.
    """

    def __init__(self, run: Run, start: Callable[[], Child]) -> None:
        self._run = run
        self._start = start
        self._process: Child | None = None
        self._kept: Mapping[str, Any] = {}
        """The results that the process has reported as certain, for the plan that it judges."""
        self._unanswered: dict[str, set[tuple[str, bool]]] = {}
        """Saver -> the kinds of steps in which two runs hung, or were cut off (True)."""
        self._numbers = count()
        self._less_patient_s = run.watchdog_s / _LESS_PATIENT
        self._shortener = Shortener(run.watchdog_s, self._less_patient_s)

    def judge(self, plan: ItemPlan, listener: Listener | None = None) -> Judged:
        """Return the outcome of ``plan``.

        A saver that kills or hangs the process twice has violated a contract. If the process was
        cut off twice while it was at work, nobody knows whether that work ever ends: nothing is
        blamed. If the saver is known not to answer in a kind of step, a second such step is
        believed at once.

        The rest of the family is then judged without such steps, if possible. Other contracts may
        be found broken. If the kind of step serves one contract alone, others may be found to hold.
        """
        judged = self._judged_once(plan, listener)
        blamed: list[Blame] = []
        while (
            (blame := judged.blame)
            and blame.fatal
            and blame.fatal not in plan.without
            and len(plan.without) < _MOST_LEFT_OUT
        ):
            plan = replace(plan, without=(*plan.without, blame.fatal))
            rest = self._judged_once(plan, listener)
            blamed.append(blame)
            # The rest lacks an operation, and any contract may be about that operation. Nothing is
            # found about a step that was cut off, but its contract was not seen to hold either.
            held = (
                held_by(rest.outcome) - {one.contract for one in blamed}
                if all(one.of_one_contract for one in blamed)
                else ()
            )
            judged = replace(
                rest,
                outcome=with_the_rest(judged.outcome, rest.outcome, judged.deaths, held),
                trouble=rest.trouble or judged.trouble,
                output=judged.output or rest.output,
                deaths=(*judged.deaths, *rest.deaths),
            )
        return judged

    def _judged_once(self, plan: ItemPlan, listener: Listener | None) -> Judged:
        known = self._unanswered_again(plan, listener) if _saver(plan) in self._unanswered else None
        return known or self._judged(plan, listener)

    def _unanswered_again(self, plan: ItemPlan, listener: Listener | None) -> Judged | None:
        """Return the outcome of a plan whose saver is known not to answer, with a third of the
        watchdog's time.

        Return None if the process ended otherwise: the plan is then judged like any other.
        """
        if not _has_steps(plan):
            # Other families stop at a hang themselves.
            return None
        careful, journal = _with_journal(plan)
        try:
            outcome, output = self._ask(careful, listener, self._less_patient_s)
        except JudgeGone as gone:
            steps = read_journal(journal)
            kind, known = kind_of_last(steps), self._unanswered[_saver(plan)]
            if gone.hung and (kind, False) in known:
                return self._dead(careful, gone, journal)
            if gone.cut_off and steps and any(cut_off for _, cut_off in known):
                # Whatever kind of step it is, nothing is blamed for it.
                return self._cut_off_in(careful, gone, steps)
        except JudgeError:
            pass  # With so little patience, this does not prove a fault of the kit.
        except SaverproofError as error:
            return unjudged(plan, error, self._kept)
        else:
            return Judged(outcome, output=output)
        return None

    def _judged(self, plan: ItemPlan, listener: Listener | None) -> Judged:
        try:
            outcome, output = self._ask(plan, listener)
        except JudgeGone as first:
            if first.cut_off:
                return self._again_after_cut_off(plan, first, listener)
            return self._again(plan, first, listener)
        except SaverproofError as error:
            return unjudged(plan, error, self._kept)
        return Judged(outcome, output=output)

    def replay(self, artefact: Mapping[str, Any], plan: ItemPlan, folder: Path) -> ReplayAnswer:
        """Run ``artefact`` again on the saver of ``plan``, and return whether its flaw is still
        there.
        """
        try:
            return run_again(
                self._running(), artefact, plan.facts, folder, silence_s=self._run.watchdog_s
            )
        except SaverproofError as error:
            return unclear(error.message)

    def _ask(
        self, plan: ItemPlan, listener: Listener | None, patience_s: float | None = None
    ) -> tuple[Outcome, str]:
        process = self._running()
        self._kept = {}

        def heard(figures: dict[str, Any]) -> None:
            if "kept" in figures:
                self._kept = figures["kept"]
            elif listener is not None:
                listener(figures)

        silence_s = patience_s or self._run.watchdog_s
        try:
            outcome = process.ask(JUDGE, plan, silence_s=silence_s, listener=heard)
        except SaverproofError:
            self._close_if_spent(process)
            raise
        except BaseException:
            # Killed, given up, or interrupted by Ctrl-C: the process can remove nothing any more.
            self._clean(plan)
            raise
        output = process.take_output()
        self._close_if_spent(process)
        return outcome, output

    @staticmethod
    def _close_if_spent(process: Child) -> None:
        # The item is over: what happens to the process from now on must not change its outcome.
        with suppress(JudgeGone, SaverproofError):
            if not process.closed and process.ask(IS_SPENT, None, limit_s=30.0):
                process.close()

    def _running(self) -> Child:
        if self._process is None or self._process.closed:
            self._process = self._start()
        return self._process

    def _again(self, plan: ItemPlan, first: JudgeGone, listener: Listener | None) -> Judged:
        """Judge the plan once more, and write each step to a journal before it is taken."""
        careful, journal = _with_journal(plan)
        before = self._kept
        try:
            outcome, output = self._ask(careful, listener)
        except JudgeGone as second:
            self._kept = joined(before, self._kept)
            if second.cut_off:
                return cut_off(plan, second, self._kept)
            if first.hung and second.hung:
                self._remember_unanswered(plan, second, read_journal(journal))
            return self._dead(careful, second, journal)
        except SaverproofError as error:
            return unjudged(plan, error, joined(before, self._kept))
        return ended_once(plan, first, Judged(outcome, output=output), before)

    def _again_after_cut_off(
        self, plan: ItemPlan, first: JudgeGone, listener: Listener | None
    ) -> Judged:
        """Judge a plan once more whose process was cut off, with a journal and a third of the
        watchdog's time, to learn in which step it is at work.
        """
        if not _has_steps(plan):
            return cut_off(plan, first, self._kept)
        careful, journal = _with_journal(plan)
        before = self._kept
        try:
            outcome, output = self._ask(careful, listener, self._less_patient_s)
        except JudgeGone as second:
            self._kept = joined(before, self._kept)
            steps = read_journal(journal)
            if not second.cut_off or not steps:
                return cut_off(plan, first, self._kept)
            self._remember_unanswered(plan, second, steps)
            return self._cut_off_in(careful, second, steps)
        except SaverproofError:
            # With so little patience, this does not prove a fault of the kit.
            return cut_off(plan, first, joined(before, self._kept))
        return ended_once(plan, first, Judged(outcome, output=output), before)

    def _remember_unanswered(self, plan: ItemPlan, gone: JudgeGone, steps: Steps) -> None:
        """Remember in which kind of step two runs of a saver hung, or were cut off."""
        if kind := kind_of_last(steps):
            self._unanswered.setdefault(_saver(plan), set()).add((kind, gone.cut_off))

    def _dead(self, plan: ItemPlan, gone: JudgeGone, journal: Path) -> Judged:
        steps = read_journal(journal)
        if steps and _has_steps(plan):
            steps = self._shortened(plan, gone, steps)
        if not steps:
            trouble = f"{gone.reason} before the first step\n{gone.stacks}".strip()
            return Judged(unfinished(plan, gone.reason, self._kept), trouble, gone.output)
        try:
            blame = self._running().ask(BLAME, Death(plan, tuple(steps)), limit_s=60.0)
        except (JudgeGone, SaverproofError) as error:
            trouble = f"{gone.reason}, and no contract could be blamed: {error}\n{gone.stacks}"
            return Judged(unfinished(plan, gone.reason, self._kept), trouble, gone.output)
        if not blame.contract:
            left = unfinished(plan, f"{gone.reason}: {blame.why}", self._kept)
            # It was seen that a call does not answer: nothing here says what is broken by that.
            left = replace(left, hidden_by=dict.fromkeys(left.unknown, ()))
            return Judged(left, output=gone.output)
        finding = Finding(
            contract=blame.contract,
            api=plan.api,
            phase=family_table(plan.family).phase,
            summary=gone.reason,
            expected="an answer or an exception",
            observed=f"{gone.reason}\n{gone.stacks}".strip(),
            steps=blame.steps,
            program=blame.program,
            reproducer=blame.reproducer,
        )
        why = f"not judged to the end: {gone.reason}"
        outcome = unfinished(plan, f"{why}: {finding.contract} stands in the way", self._kept)
        unknown = {key: why for key, why in outcome.unknown.items() if key != finding.contract}
        checked = {finding.contract: 1} | outcome.checked
        findings = (*outcome.findings, finding)
        return Judged(
            replace(outcome, unknown=unknown, checked=checked, findings=findings),
            output=gone.output,
            blame=blame,
            deaths=(finding,),
        )

    def _shortened(self, plan: ItemPlan, gone: JudgeGone, steps: Steps) -> Steps:
        """Return the shortest program found in which the process dies as well."""

        def again(candidate: Steps, patience_s: float) -> tuple[JudgeGone, Steps] | None:
            own = Path(plan.folder) / f"again-{next(self._numbers)}"
            own.mkdir()
            there, journal = _with_journal(replace(plan, folder=str(own)))
            recorded = Recorded(there, contracts(plan.family)[0].id, candidate)
            try:
                self._running().ask(REPLAY, recorded, silence_s=patience_s)
            except JudgeGone as ended:
                self._clean(there)
                return None if ended.cut_off else (ended, read_journal(journal))
            except SaverproofError:
                pass  # A program that cannot be tried is no shorter one.
            return None

        return self._shortener.shortened(_saver(plan), gone, steps, again)

    def _cut_off_in(self, plan: ItemPlan, gone: JudgeGone, steps: Steps) -> Judged:
        """Return the outcome of a run that was cut off in the last of these steps: the rest of the
        family can be judged without such steps, but nothing is known of the step itself.
        """
        try:
            blame = self._running().ask(BLAME, Death(plan, tuple(steps)), limit_s=60.0)
        except (JudgeGone, SaverproofError):
            return cut_off(plan, gone, self._kept)
        last = blame.steps[-1] if blame.steps else kind_of_last(steps)
        why = f"not judged to the end: {last} was {gone.reason}"
        trouble = f"{why}\n{gone.stacks}".strip()
        return Judged(unfinished(plan, why, self._kept), trouble, gone.output, blame)

    def _clean(self, plan: ItemPlan) -> None:
        """Let the target remove what a killed process left outside of its workspaces."""
        left = left_below(Path(plan.folder)) if plan.facts.get("drops") else ()
        if not left:
            return
        # What hangs may be where it is to be removed; the finding that follows tells of it.
        with suppress(JudgeGone, SaverproofError):
            self._running().ask(CLEAN, Leftovers(plan, left), limit_s=30.0)

    def close(self) -> None:
        """End the judge process. Closing twice does nothing."""
        if self._process is None or self._process.closed:
            return
        with suppress(JudgeGone, SaverproofError):
            self._process.ask(RELEASE, None, limit_s=30.0)
        self._process.close()


KEPT_JUDGE = pytest.StashKey[Judge]()
"""The judge of a process with items."""


def _with_journal(plan: ItemPlan) -> tuple[ItemPlan, Path]:
    """Return a plan whose steps are each written to an empty journal before they are taken."""
    journal = Path(plan.folder) / "journal.jsonl"
    journal.unlink(missing_ok=True)
    return replace(plan, journal=str(journal)), journal


def _has_steps(plan: ItemPlan) -> bool:
    """Return whether the journal of a plan has the steps of a program."""
    return family_table(plan.family).phase == "functional"


def _saver(plan: ItemPlan) -> str:
    return json.dumps(plan.target, sort_keys=True, default=str)
