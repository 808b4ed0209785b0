"""Takes the steps that remove or copy: delete_thread, delete_for_runs, copy_thread, prune."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from saverproof.judging import facts
from saverproof.judging.context import Context
from saverproof.judging.delta import (
    ChannelHistory,
    is_rebuilt_as_stored,
    rebuilt,
    same_rebuilt,
    walk_source,
)
from saverproof.judging.facts import Cause, Difference, Raised
from saverproof.judging.fields import GONE, THERE
from saverproof.judging.listing_answer import Listing, ask
from saverproof.judging.listings import judge_listed
from saverproof.judging.looks import ById, InListing, OwnAnswer, WholeListing
from saverproof.judging.run_deltas import (
    may_be_refused,
    may_have_deltas,
    needed_by_survivors,
)
from saverproof.judging.second_looks import (
    is_listed_by_limit,
    is_listed_by_namespace,
    refuses_no_namespace,
    refuses_nones,
)
from saverproof.judging.store_check import NEVER_USED, answers_unknown_alike, check_store
from saverproof.programs.model.records import PRUNED_AS_OLDER, Address, counted
from saverproof.programs.model.store import Model
from saverproof.programs.steps import definitions as steps
from saverproof.savers.execution.calls import prune_arguments
from saverproof.scripts.complaints import compare, complain, guarded, unequal
from saverproof.scripts.source import literal
from saverproof.scripts.statements import remove, write
from saverproof.scripts.writer import ScriptWriter


def _invoke(context: Context, operation: str, *arguments: Any, **named: Any) -> bool:
    """Call an operation that returns nothing. Note a difference and return False if it raises."""
    answer = context.attempt(lambda: context.driver.invoke(operation, *arguments, **named))
    if isinstance(answer, Raised):
        context.facts.differ(facts.RAISED, None, f"{operation} to succeed", answer)
        return False
    return True


def _compare_given(context: Context, name: str, before: list[str], after: list[str]) -> None:
    if context.watch_inputs:
        context.facts.compare(facts.INPUT, None, before, after, detail=name, look=_INPUT)


def _show_input(
    writer: ScriptWriter, step: steps.DeleteForRuns | steps.Prune, difference: Difference
) -> None:
    """Write a check that the call left its list of what to remove unchanged."""
    names = literal(step.runs if isinstance(step, steps.DeleteForRuns) else step.threads)
    writer.say(f"given = {names}")
    remove(step, writer, "given")
    compare(writer, "given", names, unequal(difference.expected, difference.observed))


_INPUT = OwnAnswer(_show_input)


def _look_again(context: Context, step: steps.Step, threads: tuple[str, ...]) -> None:
    """Compare the whole store with the model, and the listings of these threads."""
    known = len(context.facts.differences)
    check_store(context)
    for thread in threads:
        asked = steps.ListTuples(thread)
        listing = ask(context, asked)
        if listing.error is not None:
            if not refuses_nones(context, asked, listing.error) and not refuses_no_namespace(
                context, asked
            ):
                # If a listing of any unknown thread raises, the removal is not the cause.
                nobody = ask(context, steps.ListTuples(NEVER_USED)).error is not None
                cause = Cause.EMPTY_THREAD if nobody and not context.model.listing(asked) else None
                log = context.facts.by(WholeListing(asked))
                log.differ(facts.RAISED, None, "a listing", listing.error, cause=cause)
            continue
        _judge_listing(context, thread, listing)
    if len(context.facts.differences) == known:
        context.facts.agree(type(step))


def _judge_listing(context: Context, thread: str, listing: Listing) -> None:
    model, asked = context.model, steps.ListTuples(thread)
    for address, item in listing.items:
        if model.record(address) is None:
            look = InListing(asked, address)
            context.facts.differ(facts.EXTRA, address, None, item, look=look, part=GONE)
            model.adopt(address)
        else:
            judge_listed(context, asked, address, item)
    for address in set(model.listing(asked)) - set(listing.addresses):
        # Listings without a namespace or a limit are judged elsewhere.
        if is_listed_by_limit(context, asked, address):
            continue
        if is_listed_by_namespace(context, asked, address):
            continue
        look = InListing(asked, address)
        context.facts.differ(
            facts.MISSING, address, "in the listing", "not in it", look=look, part=THERE
        )


def take_delete_thread(step: steps.DeleteThread, context: Context) -> None:
    """Delete a thread. Nothing of it may be left, and nothing else may be changed."""
    context.last_change = step
    if _invoke(context, "delete_thread", context.real(step.thread)):
        context.model.delete_thread(step.thread)
        _look_again(context, step, (step.thread,))


def take_delete_for_runs(step: steps.DeleteForRuns, context: Context) -> None:
    """Delete the checkpoints of some runs in all threads."""
    context.last_change = step
    threads = tuple(context.model.threads)
    given = [*step.runs]
    needed = needed_by_survivors(context, step.runs)
    with_deltas = may_be_refused(
        context, {thread for thread, *_ in context.model.of_runs(step.runs)}
    )
    before = {
        (address, channel): _rebuilt_now(context, address, channel)
        for address, channels in needed.by.items()
        for channel in channels
    }
    answer = context.attempt(lambda: context.driver.invoke("delete_for_runs", given))
    _compare_given(context, "run_ids", [*step.runs], given)
    for_deltas = (bool(needed.may_stay) or with_deltas) and _is_refusal(answer)
    refused = for_deltas or _refuses_no_run(step, answer)
    context.refusals.append(refused)
    if isinstance(answer, Raised):
        if refused:
            check_store(context)
        else:
            context.facts.differ(facts.RAISED, None, "delete_for_runs to succeed", answer)
        return
    _leave_wrong_runs_alone(context)
    for address in needed.may_stay:
        if context.model.record(address) is not None:
            observed = ById(address).ask(context)
            if observed is not None and not answers_unknown_alike(context, address, observed):
                context.model.leave_alone(address)
    context.model.delete_for_runs(step.runs)
    _look_again(context, step, threads)
    _judge_delta_chains(context, before, facts.REBUILT_AFTER_RUNS)


def _leave_wrong_runs_alone(context: Context) -> None:
    """Stop judging checkpoints that the saver shows with a wrong run id.

    Whether a deletion of runs removes them follows from that id.
    """
    model = context.model
    for address in [*model.addresses()]:
        record = model.record(address)
        if record is not None and "metadata:run_id" in record.doubts:
            model.leave_alone(address)


def take_copy_thread(step: steps.CopyThread, context: Context) -> None:
    """Copy a thread. Both threads must then show the same."""
    context.last_change = step
    source, target = context.real(step.source), context.real(step.target)
    if _invoke(context, "copy_thread", source, target):
        context.model.copy_thread(step.source, step.target)
        _look_again(context, step, (step.source, step.target))


def take_prune(step: steps.Prune, context: Context) -> None:
    """Prune threads, and let the model follow which older checkpoints the saver kept."""
    context.last_change = step
    before = _rebuilt_before(context, step)
    may_refuse = step.strategy != "delete" and may_be_refused(context, step.threads)
    # What was wrong before a prune that is refused is not its doing.
    wrong_before = _wrong_now(context) if may_refuse else []
    names = [context.real(thread) for thread in step.threads]
    given = [*names]
    answer = context.attempt(lambda: context.driver.invoke("prune", given, **prune_arguments(step)))
    _compare_given(context, "thread_ids", names, given)
    refused = may_refuse and _is_refusal(answer)
    context.refusals.append(refused)
    if isinstance(answer, Raised):
        if refused:
            _judge_refusal(context, wrong_before)
        else:
            context.facts.differ(facts.RAISED, None, "prune to succeed", answer)
        return
    _settle(context, step, context.model.prune(step))
    _look_again(context, step, step.threads)
    _judge_delta_chains(context, before, facts.REBUILT)


def _is_refusal(answer: Any) -> bool:
    return isinstance(answer, Raised) and isinstance(answer.error, NotImplementedError)


def _refuses_no_run(step: steps.DeleteForRuns, answer: Any) -> bool:
    """Return whether a saver refused an empty run id. It may, since no checkpoint belongs to such a
    run.
    """
    return "" in step.runs and isinstance(answer, Raised) and isinstance(answer.error, ValueError)


def _judge_refusal(context: Context, wrong_before: list[Difference]) -> None:
    """Accept that prune refuses threads with delta channels, if it has changed nothing.

    A refusal counts as evidence only if nothing was wrong before: a change in what cannot be read
    would not be seen.
    """
    before = {*map(_what_is_wrong, wrong_before)}
    changed = [each for each in _wrong_now(context) if _what_is_wrong(each) not in before]
    for difference in changed:
        difference.cause = Cause.REFUSED_PRUNE
    if not changed and not wrong_before:
        context.facts.agree(facts.REFUSED_PRUNE)


def _wrong_now(context: Context) -> list[Difference]:
    """Check the whole store, and return the differences that this shows, masked ones too."""
    log = context.facts
    known, masked = len(log.differences), len(log.masked)
    check_store(context)
    return [*log.differences[known:], *log.masked[masked:]]


def _what_is_wrong(difference: Difference) -> tuple[Hashable, ...]:
    write = difference.write
    part = None if write is None else (write.task, write.index, write.channel)
    return difference.fact, difference.address, part


def _settle(context: Context, step: steps.Prune, open_: list[Address]) -> None:
    """Let the model follow which of the older checkpoints the saver kept."""
    if step.strategy == "delete" or not open_:
        return
    model = context.model
    with_delta = {thread for thread in step.threads if _any_deltas(context, thread)}
    kept: list[Address] = []
    for address in open_:
        observed = ById(address).ask(context)
        record = model.record(address)
        assert record is not None
        if observed is None or answers_unknown_alike(context, address, observed):
            model.remove(address, PRUNED_AS_OLDER)
            continue
        record.parent_may_be_gone = True
        if model.latest(address[0], address[1]) == address[2]:
            continue
        # Nothing is promised of older checkpoints, not even that those kept are complete.
        model.leave_alone(address)
        if address[0] not in with_delta:
            kept.append(address)
    if kept:
        context.facts.differ(facts.KEPT, kept[0], [], kept, look=_KEPT)
    else:
        context.facts.agree(facts.KEPT)


def _show_kept(writer: ScriptWriter, step: steps.Prune, difference: Difference) -> None:
    """Write a check that no older checkpoints are left."""
    write(step, writer)
    places = ", ".join(map(writer.at, difference.observed))
    found = writer.ask("get_tuple", "at")
    compare(writer, f"[at for at in [{places}] if {found}]", "[]")


_KEPT = OwnAnswer(_show_kept)


def _any_deltas(context: Context, thread: str) -> bool:
    namespaces = context.model.threads.get(thread, {})
    return any(may_have_deltas(records) for records in namespaces.values())


def _counted_by(model: Model, address: Address) -> list[str]:
    """Return the delta channels that a checkpoint counts. LangGraph rebuilds no others there."""
    record = model.record(address)
    return [] if record is None else sorted(counted(record.metadata))


Before = tuple[ChannelHistory, bool]
Rebuilt = dict[tuple[Address, str], Before]


def _rebuilt_before(context: Context, step: steps.Prune) -> Rebuilt:
    """Return what each delta channel of the threads' newest checkpoints is rebuilt from.

    A channel whose value the checkpoint itself has is not rebuilt: if a prune takes that value, it
    does not keep the checkpoint whole.
    """
    found: Rebuilt = {}
    for thread in step.threads if step.strategy != "delete" else ():
        for namespace in context.model.threads.get(thread, ()):
            latest = context.model.latest(thread, namespace)
            if latest is None:
                continue
            address = (thread, namespace, latest)
            own = context.model.threads[thread][namespace][latest].channels
            for channel in _counted_by(context.model, address):
                if channel not in own or own[channel].value is None:
                    found[(address, channel)] = _rebuilt_now(context, address, channel)
    return found


def _rebuilt_now(context: Context, address: Address, channel: str) -> Before:
    """Return what a delta channel is rebuilt from, and whether that is what was stored."""
    now = rebuilt(context, address, channel)
    return now, is_rebuilt_as_stored(context.model, address, channel, now)


_REBUILDING = "its delta channels to be rebuilt"


def _judge_delta_chains(context: Context, before: Rebuilt, fact: facts.Fact) -> None:
    for (address, channel), (expected, as_stored) in before.items():
        # If a nested call began at a checkpoint that is gone, nothing of it has to be kept.
        if context.model.record(address) is not None:
            shown = rebuilt(context, address, channel)
            if not expected.is_known or shown.unclear:
                continue
            if shown.raised is not None:
                context.facts.differ(fact, address, _REBUILDING, shown.raised, look=_REBUILT)
                continue
            alike = same_rebuilt(expected, shown)
            if alike and not as_stored:
                # What was rebuilt wrongly before may be rebuilt in the same way from less.
                context.note_blind(fact)
                continue
            context.facts.judge(alike, fact, address, expected, shown, look=_REBUILT)


def _show_rebuilt(writer: ScriptWriter, step: steps.Step, difference: Difference) -> None:
    """Write a check that delta channels are rebuilt from the same writes after a removal.

    A channel whose value is now stored whole is left out.
    """
    assert difference.address is not None
    channels, at = _counted_by(writer.model, difference.address), writer.at(difference.address)
    writer.say(f"at, channels = {at}, {literal(channels)}")
    walked = walk_source(writer, "at", "channels")
    if isinstance(difference.observed, Raised):
        writer.say(walked)
        write(step, writer)
        guarded(writer, [walked], _REBUILDING, difference.observed.error)
        return
    writer.say(f"expected = {walked}")
    write(step, writer)
    writer.say(f"observed = {walked}", f"found = {writer.ask('get_tuple', 'at')}")
    writer.say('stored = found.checkpoint["channel_values"] if found else {}')
    complain(writer, "any(observed[c] != expected[c] for c in channels if c not in stored)")


_REBUILT = OwnAnswer(_show_rebuilt)
