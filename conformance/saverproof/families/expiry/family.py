"""Judges what is left of a thread while its time passes.

No clock decides: a target says how its time is made to pass. If nothing expires after that, the
author is told that the target is wrong, and the saver is not judged.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from saverproof.capability import Capability
from saverproof.contracts.tables.expiry import TABLE, USED_THREADS_STAY, WHOLE_OR_NOT_AT_ALL
from saverproof.errors import SaverproofError
from saverproof.families.checks import CheckContext, CheckFamily, Disagreement
from saverproof.families.expiry.scripts import TrialScript
from saverproof.families.expiry.thread import OTHER_TASK, ExpiringCheckpoint, Thread, id_of, words

PART = 0.6
"""The share of the time that passes at once: what is used in between is not due after two of them,
and all else is.
"""
ALMOST = 0.9
"""A share after which nothing is due yet."""
SUBGRAPH = "review:00000000-0000-0000-0000-000000000002"


class NothingExpiresError(SaverproofError):
    """A thread is shown long after its time has passed: what the target says about expiry is
    wrong.
    """


class NotShownError(SaverproofError):
    """A checkpoint is not shown as it was put, even before any time has passed."""


def whole_or_not_at_all(context: CheckContext) -> None:
    """Let the time pass in several ways, and look whether what is shown is whole."""
    _try_each(context, WHOLE, WHOLE_OR_NOT_AT_ALL.id)


def used_threads_stay(context: CheckContext) -> None:
    """Use a thread within its time, and look whether it is there."""
    _try_each(context, STAYING, USED_THREADS_STAY.id)


def _try_each(
    context: CheckContext, trials: tuple[Callable[[Thread], None], ...], contract: str
) -> None:
    expiry = context.store.target.expiry
    if expiry is None:
        return
    target, api = context.store.target, context.plan.api
    numbers = itertools.count(1)
    unused = TrialScript(target, api, contract, numbers)
    _require_expiry(Thread(context, expiry, "unused", unused))
    shown_by: list[str] = []
    try:
        for number, trial in enumerate(trials):
            context.steps.clear()
            script = TrialScript(target, api, contract, numbers)
            trial(Thread(context, expiry, str(number), script))
            if context.disagreements and not shown_by:
                shown_by, context.script = [*context.steps], script.text
    finally:
        # A later trial may raise: what was seen before is told all the same.
        if shown_by:
            context.steps[:] = [*shown_by, *_further(context.disagreements)]


def _further(disagreements: Sequence[Disagreement]) -> Iterator[str]:
    """Yield a line for each flaw that a later trial has shown, and the first trial has not."""
    for summary in dict.fromkeys(each.summary for each in disagreements):
        if summary != disagreements[0].summary:
            yield f"seen in another thread as well: {summary}"


def _require_expiry(thread: Thread) -> None:
    kept = thread.put(messages=["hello"], question="send it?")
    below = thread.put(SUBGRAPH, draft="Dear Ada")
    thread.write("answer", "yes")
    for each, ns in ((kept, ""), (below, SUBGRAPH)):
        shown = thread.read(ns)
        if shown is None or (lost := each.lacks(shown)):
            lost = each.values if shown is None else lost
            raise NotShownError(f"before any time has passed, {words(lost)} is not as it was put")
    thread.wait(3)
    if thread.read() is not None:
        raise NothingExpiresError("after three times its time a thread is still shown")


def _question_and_answer(thread: Thread) -> ExpiringCheckpoint:
    kept = thread.put(question="send it?")
    thread.write("answer", "yes")
    return kept


def _rest_of_writes(thread: Thread) -> None:
    kept = _question_and_answer(thread)
    # The checkpoint and its write are equally old. They are read just before they may expire.
    thread.wait(ALMOST)
    _judge_whole(thread, kept)


def _rest_of_unchanged_values(thread: Thread) -> None:
    # Whether the first checkpoint stays so long is seen elsewhere: a read may begin its time anew.
    beside = thread.beside()
    beside.put(turn=1)
    thread.put(messages=["hello"])
    thread.wait(PART)
    if beside.read() is None:
        return
    kept = thread.put(turn=2)
    thread.wait(PART)
    _judge_whole(thread, kept)


def _rest_after_a_read(thread: Thread) -> None:
    kept = _question_and_answer(thread)
    thread.wait(PART)
    thread.read()
    thread.wait(PART)
    _judge_whole(thread, kept)


def _rest_after_a_write(thread: Thread) -> None:
    kept = _question_and_answer(thread)
    thread.wait(PART)
    thread.write("note", "and thank you", OTHER_TASK)
    thread.wait(PART)
    _judge_whole(thread, kept)


def _rest_of_a_subgraph(thread: Thread) -> None:
    kept, below = _waits_in_a_subgraph(thread)
    thread.wait(PART)
    thread.read()
    thread.wait(PART)
    _judge_with_subgraph(thread, kept, below)


def _rest_of_a_subgraph_after_a_write(thread: Thread) -> None:
    kept, below = _waits_in_a_subgraph(thread)
    thread.wait(PART)
    # An answer is stored with the root's checkpoint, and the subgraph goes on with it.
    thread.write("__resume__", "yes")
    thread.wait(PART)
    _judge_with_subgraph(thread, kept, below)


def _waits_in_a_subgraph(thread: Thread) -> tuple[ExpiringCheckpoint, ExpiringCheckpoint]:
    return thread.put(question="send it?"), thread.put(SUBGRAPH, draft="Dear Ada")


def _rest_of_a_delta_channel(thread: Thread) -> None:
    if Capability.DELTA_HISTORY not in thread.context.plan.facts["capabilities"]:
        return
    # Whether the first checkpoint stays so long is seen elsewhere: a read may begin its time anew.
    beside = thread.beside()
    for each in (beside, thread):
        each.put(turn=1)
        each.write("log", "hello")
    thread.wait(PART)
    if beside.history(beside.put(turn=2, delta="log"), "log") != ["hello"]:
        return
    kept = thread.put(turn=2, delta="log")
    thread.wait(PART)
    # A read of the checkpoint may begin its time anew, and that of nothing else.
    if thread.by_id(kept) is None:
        return
    position = thread.script.position
    shown = thread.history(kept, "log")
    if shown == ["hello"]:
        thread.context.agreed()
    else:
        thread.context.differed(
            "a checkpoint is shown, and what its delta channel is rebuilt from has expired: log",
            expected="log from the writes ['hello']",
            observed=f"log from the writes {shown}",
        )
        thread.script.complain_of_history(position, thread.place(), kept.number, "log", ["hello"])


def _rest_of_a_copy(thread: Thread) -> None:
    if Capability.COPY_THREAD not in thread.context.plan.facts["capabilities"]:
        return
    _question_and_answer(thread)
    thread.wait(PART)
    copy = thread.copied()
    thread.wait(PART)
    _judge_whole(copy, copy.latest[""])


def _rest_in_listings(thread: Thread) -> None:
    kept = _question_and_answer(thread)
    thread.wait(3)
    _judge_whole(thread, kept)


def _stays_for_its_time(thread: Thread) -> None:
    kept = thread.put(question="send it?")
    thread.wait(ALMOST)
    _judge_there(thread, kept, "a thread is gone before its time")


def _stays_when_put(thread: Thread) -> None:
    thread.put(messages=["hello"], turn=1)
    thread.wait(PART)
    kept = thread.put(turn=2)
    thread.wait(PART)
    _judge_there(thread, kept, "a thread was put within its time, and is gone")


def _stays_when_written(thread: Thread) -> None:
    kept = thread.put(question="send it?")
    thread.wait(PART)
    thread.write("__interrupt__", "waits for a person")
    thread.wait(PART)
    _judge_there(thread, kept, "a thread was written within its time, and is gone")


def _stays_when_its_subgraph_is_put(thread: Thread) -> None:
    kept = thread.put(question="send it?")
    thread.wait(PART)
    thread.put(SUBGRAPH, draft="Dear Ada")
    thread.wait(PART)
    _judge_there(thread, kept, "a thread's subgraph was put within its time, and it is gone")


def _stays_when_its_subgraph_is_written(thread: Thread) -> None:
    kept, _ = _waits_in_a_subgraph(thread)
    thread.wait(PART)
    thread.write("__interrupt__", "waits for a person", ns=SUBGRAPH)
    thread.wait(PART)
    _judge_there(thread, kept, "a thread's subgraph was written within its time, and it is gone")


def _stays_when_read(thread: Thread) -> None:
    if not thread.expiry.renewed_by_reads:
        return
    kept = thread.put(question="send it?")
    thread.wait(PART)
    thread.read()
    thread.wait(PART)
    _judge_there(thread, kept, "a thread was read within its time, and is gone")


WHOLE = (
    _rest_of_writes,
    _rest_of_unchanged_values,
    _rest_after_a_read,
    _rest_after_a_write,
    _rest_of_a_subgraph,
    _rest_of_a_subgraph_after_a_write,
    _rest_of_a_delta_channel,
    _rest_of_a_copy,
    _rest_in_listings,
)
STAYING = (
    _stays_for_its_time,
    _stays_when_put,
    _stays_when_written,
    _stays_when_its_subgraph_is_put,
    _stays_when_its_subgraph_is_written,
    _stays_when_read,
)


def _judge_whole(thread: Thread, kept: ExpiringCheckpoint) -> None:
    """Read a checkpoint in every way, and compare each tuple that is shown with what was put.

    A read that shows nothing is not judged: the checkpoint may have expired as a whole.
    """
    context, script = thread.context, thread.script
    first = script.position
    reads: tuple[Callable[[], Any], ...] = (
        partial(thread.listed, kept),
        thread.read,
        partial(thread.by_id, kept),
    )
    shown = []
    # The listing comes first: a read may begin the checkpoint's time anew.
    for read in reads:
        position, found = script.position, read()
        shown.append(found)
        if found is None or id_of(found) != kept.id:
            continue
        if lost := kept.lacks(found):
            context.differed(
                f"a checkpoint is shown, and a part of it has expired: {words(lost)}",
                expected=f"all of it, or nothing: {kept.values}, writes {kept.writes}",
                observed=f"without {lost}",
            )
            script.complain_of_part(position, kept.number, kept.parts)
            return
        context.agreed()
    listed, _, by_id = shown
    if listed is not None and by_id is None:
        context.differed(
            "`list` shows a checkpoint that has expired for `get_tuple`",
            expected="the checkpoint from both, or from neither",
            observed=f"checkpoint {kept.values} from `list` alone",
        )
        script.complain_of_listing(first, thread.place(), kept.number)


def _judge_with_subgraph(
    thread: Thread, kept: ExpiringCheckpoint, below: ExpiringCheckpoint
) -> None:
    _judge_whole(thread, kept)
    position = thread.script.position
    if thread.read() is None:
        return
    otherwise = "a checkpoint is shown, and its subgraph's is gone"
    if _is_gone(thread, below, SUBGRAPH, otherwise):
        root, beneath = thread.place(), thread.place(SUBGRAPH)
        thread.script.complain_of_loss(position, beneath, while_shown=root)


def _judge_there(thread: Thread, kept: ExpiringCheckpoint, otherwise: str) -> None:
    position = thread.script.position
    if _is_gone(thread, kept, "", otherwise):
        thread.script.complain_of_loss(position, thread.place())


def _is_gone(thread: Thread, kept: ExpiringCheckpoint, ns: str, otherwise: str) -> bool:
    """Return whether a checkpoint is gone that should be there, and record that."""
    gone = thread.read(ns) is None
    if gone:
        thread.context.differed(otherwise, expected=f"checkpoint {kept.values}", observed="None")
    else:
        thread.context.agreed()
    return gone


FAMILY = CheckFamily(
    TABLE,
    {
        WHOLE_OR_NOT_AT_ALL.id: whole_or_not_at_all,
        USED_THREADS_STAY.id: used_threads_stay,
    },
)
