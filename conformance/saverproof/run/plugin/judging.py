"""Let a child process judge a plan, and once more if that process dies."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
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
from saverproof.run.plugin.run import Run
from saverproof.savers.targets.opening import left_below

_KNOWN_TO_HANG = 3
"""The watchdog's time is divided by this for a saver that has hung twice for the whole time, and
for the second of two runs that are cut off. If a step of another kind hangs for the shorter time,
it is run again with the whole time.
"""


@dataclass(frozen=True, slots=True)
class Judged:
    """The result of judging a plan."""

    outcome: Outcome
    trouble: str | None = None
    """The reason why some contracts could not be judged, other than a violation; None if all
    could.
    """
    output: str = ""
    """The end of what the saver printed."""
    blame: Blame | None = None
    """The blame for the death of the process, if it died."""
    deaths: tuple[Finding, ...] = ()
    """The findings about deaths of the process, which are in the outcome as well."""


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
        self._shortener = Shortener(run.watchdog_s, run.watchdog_s / _KNOWN_TO_HANG)

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
            # The rest lacks an operation, and any contract may be about that operation.
            held = held_by(rest.outcome) if all(one.of_one_contract for one in blamed) else ()
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
        journal = Path(plan.folder) / "journal.jsonl"
        careful = replace(plan, journal=str(journal))
        patience_s = self._run.watchdog_s / _KNOWN_TO_HANG
        try:
            outcome, output = self._ask(careful, listener, patience_s)
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
            return self._unjudged(plan, error)
        else:
            return Judged(outcome, output=output)
        journal.unlink(missing_ok=True)
        return None

    def _judged(self, plan: ItemPlan, listener: Listener | None) -> Judged:
        try:
            outcome, output = self._ask(plan, listener)
        except JudgeGone as first:
            if first.cut_off:
                return self._again_after_cut_off(plan, first, listener)
            return self._again(plan, first, listener)
        except SaverproofError as error:
            return self._unjudged(plan, error)
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
        journal = Path(plan.folder) / "journal.jsonl"
        careful = replace(plan, journal=str(journal))
        try:
            outcome, output = self._ask(careful, listener)
        except JudgeGone as second:
            if second.cut_off:
                return self._cut_off(plan, second)
            if first.hung and second.hung:
                self._remember_unanswered(plan, second, read_journal(journal))
            return self._dead(careful, second, journal)
        except SaverproofError as error:
            return self._unjudged(plan, error)
        return self._ended_once(plan, first, outcome, output)

    def _again_after_cut_off(
        self, plan: ItemPlan, first: JudgeGone, listener: Listener | None
    ) -> Judged:
        """Judge a plan once more whose process was cut off, with a journal and a third of the
        watchdog's time, to learn in which step it is at work.
        """
        if not _has_steps(plan):
            return self._cut_off(plan, first)
        journal = Path(plan.folder) / "journal.jsonl"
        careful = replace(plan, journal=str(journal))
        try:
            outcome, output = self._ask(careful, listener, self._run.watchdog_s / _KNOWN_TO_HANG)
        except JudgeGone as second:
            steps = read_journal(journal)
            if not second.cut_off or not steps:
                return self._cut_off(plan, first)
            self._remember_unanswered(plan, second, steps)
            return self._cut_off_in(careful, second, steps)
        except SaverproofError:
            # With so little patience, this does not prove a fault of the kit.
            return self._cut_off(plan, first)
        return self._ended_once(plan, first, outcome, output)

    def _remember_unanswered(self, plan: ItemPlan, gone: JudgeGone, steps: Steps) -> None:
        """Remember in which kind of step two runs of a saver hung, or were cut off."""
        if kind := kind_of_last(steps):
            self._unanswered.setdefault(_saver(plan), set()).add((kind, gone.cut_off))

    @staticmethod
    def _ended_once(plan: ItemPlan, first: JudgeGone, outcome: Outcome, output: str) -> Judged:
        """Return what a run that came to its end says after an equal one that did not."""
        why = f"the first of two equal runs ended early ({first.reason}), the second did not"
        trouble = f"{why}\n{first.stacks}".strip()
        unknown = {**_all_unknown(plan, why), **outcome.unknown}
        return Judged(replace(outcome, unknown=unknown), trouble, output or first.output)

    def _dead(self, plan: ItemPlan, gone: JudgeGone, journal: Path) -> Judged:
        steps = read_journal(journal)
        if steps and _has_steps(plan):
            steps = self._shortened(plan, gone, steps)
        if not steps:
            trouble = f"{gone.reason} before the first step\n{gone.stacks}".strip()
            return Judged(self._left(plan, gone.reason), trouble, gone.output)
        try:
            blame = self._running().ask(BLAME, Death(plan, tuple(steps)), limit_s=60.0)
        except (JudgeGone, SaverproofError) as error:
            trouble = f"{gone.reason}, and no contract could be blamed: {error}\n{gone.stacks}"
            return Judged(self._left(plan, gone.reason), trouble, gone.output)
        if not blame.contract:
            left = self._left(plan, f"{gone.reason}: {blame.why}")
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
        outcome = self._left(plan, f"{why}: {finding.contract} stands in the way")
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
            journal = own / "journal.jsonl"
            there = replace(plan, folder=str(own), journal=str(journal))
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

    def _unjudged(self, plan: ItemPlan, error: SaverproofError) -> Judged:
        trouble = error.message
        if isinstance(error, JudgeError):
            trouble = f"an error of the kit, please report it: {error.message}\n{error.details}"
        return Judged(self._left(plan, error.message), trouble)

    def _cut_off(self, plan: ItemPlan, gone: JudgeGone) -> Judged:
        trouble = f"{gone.reason}\n{gone.stacks}".strip()
        return Judged(self._left(plan, gone.reason), trouble, gone.output)

    def _cut_off_in(self, plan: ItemPlan, gone: JudgeGone, steps: Steps) -> Judged:
        """Return the outcome of a run that was cut off in the last of these steps: the rest of the
        family can be judged without such steps, but nothing is known of the step itself.
        """
        try:
            blame = self._running().ask(BLAME, Death(plan, tuple(steps)), limit_s=60.0)
        except (JudgeGone, SaverproofError):
            return self._cut_off(plan, gone)
        last = blame.steps[-1] if blame.steps else kind_of_last(steps)
        why = f"not judged to the end: {last} was {gone.reason}"
        trouble = f"{why}\n{gone.stacks}".strip()
        return Judged(self._left(plan, why), trouble, gone.output, blame)

    def _left(self, plan: ItemPlan, why: str) -> Outcome:
        """Return what is certain although the judging was not finished.

        This is what was found and settled, and the differences that were unexplained at that time.
        All other contracts are unknown because of ``why``.
        """
        findings = tuple(Finding.from_json(found) for found in self._kept.get("findings", ()))
        known = {found.contract for found in findings} | {*self._kept.get("settled", ())}
        checked = self._kept.get("checked", {})
        unknown = {
            name: f"{reason}; before that it was judged {checked[name]:,} times"
            if name in checked
            else reason
            for name, reason in _all_unknown(plan, why).items()
            if name not in known
        }
        return Outcome(
            checked={name: times for name, times in checked.items() if name in known},
            findings=findings,
            unknown=unknown,
            inapplicable={},
            unexercised={},
            operations=0,
            saver_s=0.0,
            total_s=0.0,
            unsettled=dict(self._kept.get("unsettled", {})),
        )

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


def _all_unknown(plan: ItemPlan, why: str) -> dict[str, str]:
    return {contract.id: why for contract in contracts(plan.family)}


def _has_steps(plan: ItemPlan) -> bool:
    """Return whether the journal of a plan has the steps of a program."""
    return family_table(plan.family).phase == "functional"


def _saver(plan: ItemPlan) -> str:
    return json.dumps(plan.target, sort_keys=True, default=str)
