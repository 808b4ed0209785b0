"""Takes the steps that remove or copy: delete_thread, delete_for_runs, copy_thread, prune."""

from __future__ import annotations

from functools import partial
from typing import Any

from saverproof.execution.calls import read_config
from saverproof.judging.delta import rebuilt, same_rebuilt
from saverproof.judging.listing_answer import Listing, ask
from saverproof.judging.listings import judge_listed
from saverproof.judging.refusals import refuses_nones
from saverproof.judging.session import Raised, Session, perform
from saverproof.judging.store_check import answers_unknown_alike, leave_alone, survey
from saverproof.model.records import Address
from saverproof.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    ListTuples,
    Prune,
)


def _invoke(session: Session, contract: str, operation: str, *arguments: Any, **named: Any) -> bool:
    """Call an operation that answers nothing; False if it raised, which is written down."""
    answer = session.attempt(lambda: session.driver.invoke(operation, *arguments, **named))
    if isinstance(answer, Raised):
        session.sheet.differ(contract, "raised", None, f"{operation} to succeed", answer)
        return False
    return True


def _look_again(session: Session, contract: str, threads: tuple[str, ...]) -> None:
    """Look at the whole store, and at the listings of the threads concerned."""
    known = len(session.sheet.differences)
    survey(session)
    for thread in threads:
        asked = ListTuples(thread)
        listing = ask(session, asked)
        if listing.error is not None:
            if not refuses_nones(session, asked, listing.error):
                session.sheet.differ(contract, "raised", None, "a listing", listing.error)
            continue
        _judge_listing(session, contract, thread, listing)
    if len(session.sheet.differences) == known:
        session.sheet.agree(contract)


def _judge_listing(session: Session, contract: str, thread: str, listing: Listing) -> None:
    model = session.model
    for address, item in listing.items:
        if model.record(address) is None:
            session.sheet.differ(contract, "extra", address, None, item)
            model.haunt(address)
        else:
            judge_listed(session, address, item)
    for address in set(model.listing(ListTuples(thread))) - set(listing.addresses):
        session.sheet.differ(contract, "missing", address, "in the listing", "not in it")


@perform.register
def _(step: DeleteThread, session: Session) -> None:
    session.last_change = step
    contract = "deletion/thread-all"
    if _invoke(session, contract, "delete_thread", session.real(step.thread)):
        session.model.delete_thread(step.thread)
        _look_again(session, contract, (step.thread,))


@perform.register
def _(step: DeleteForRuns, session: Session) -> None:
    session.last_change = step
    contract = "deletion/runs"
    threads = tuple(session.model.threads)
    if _invoke(session, contract, "delete_for_runs", list(step.runs)):
        session.model.delete_for_runs(step.runs)
        _look_again(session, contract, threads)


@perform.register
def _(step: CopyThread, session: Session) -> None:
    session.last_change = step
    contract = "deletion/copy-complete"
    source, target = session.real(step.source), session.real(step.target)
    if _invoke(session, contract, "copy_thread", source, target):
        session.model.copy_thread(step.source, step.target)
        _look_again(session, contract, (step.source, step.target))


@perform.register
def _(step: Prune, session: Session) -> None:
    session.last_change = step
    before = _rebuilt_before(session, step)
    names = [session.real(thread) for thread in step.threads]
    answer = session.attempt(lambda: session.driver.invoke("prune", names, strategy=step.strategy))
    if isinstance(answer, Raised):
        _judge_refusal(session, step, answer, bool(before))
        return
    _settle(session, step, session.model.prune(step))
    _look_again(session, "deletion/prune-latest", step.threads)
    _judge_delta_chains(session, before)


def _judge_refusal(session: Session, step: Prune, answer: Raised, delta: bool) -> None:
    """Refusing threads with delta channels is right, if nothing was changed before."""
    if not (delta and isinstance(answer.error, NotImplementedError)):
        session.sheet.differ("deletion/prune-latest", "raised", None, "prune to succeed", answer)
        return
    known = len(session.sheet.differences)
    survey(session)
    for difference in session.sheet.differences[known:]:
        difference.contract = "deletion/prune-keeps-delta-chain"
        difference.settled = True
    if len(session.sheet.differences) == known:
        session.sheet.agree("deletion/prune-keeps-delta-chain")


def _settle(session: Session, step: Prune, open_: list[Address]) -> None:
    """Go on with whichever of the older checkpoints the saver kept."""
    if step.strategy == "delete" or not open_:
        return
    model = session.model
    with_delta = {thread for thread in step.threads if _may_have_deltas(session, thread)}
    kept: list[Address] = []
    for address in open_:
        config = read_config(address, session.real(address[0]))
        observed = session.attempt(partial(session.reader.get_tuple, config))
        record = model.record(address)
        assert record is not None
        if observed is None or answers_unknown_alike(session, address, observed):
            model.remove(address, "prune")
            continue
        record.parent_may_be_gone = True
        if model.latest(address[0], address[1]) == address[2]:
            continue
        # Nothing is promised of the older ones, not even that what is kept of them is whole.
        leave_alone(model, address)
        if address[0] not in with_delta:
            kept.append(address)
    contract = "deletion/prune-drops-older"
    if kept:
        session.sheet.differ(contract, "kept", kept[0], [], kept, settled=True)
    else:
        session.sheet.agree(contract)


def _may_have_deltas(session: Session, thread: str) -> bool:
    """Whether a careful saver could take a channel for one that is rebuilt from older writes."""
    namespaces = session.model.threads.get(thread, {})
    return any(
        _delta_channels(session, thread, namespace)
        or any(c.value is None for record in records.values() for c in record.channels.values())
        for namespace, records in namespaces.items()
    )


def _delta_channels(session: Session, thread: str, namespace: str) -> tuple[str, ...]:
    """The channels of a namespace that its metadata says are kept as deltas.

    A channel that merely lost its value is none: nobody rebuilds it from its ancestors.
    """
    history = session.model.history(thread, namespace)
    counters = (record.metadata.get("counters_since_delta_snapshot") for record in history.values())
    return tuple(sorted({name for counted in counters for name in counted or ()}))


Rebuilt = dict[tuple[str, int, str], Any]


def _rebuilt_before(session: Session, step: Prune) -> Rebuilt:
    found: Rebuilt = {}
    for thread in step.threads if step.strategy != "delete" else ():
        latest = session.model.latest(thread, "")
        for channel in _delta_channels(session, thread, "") if latest is not None else ():
            assert latest is not None
            found[(thread, latest, channel)] = rebuilt(session, (thread, "", latest), channel)
    return found


def _judge_delta_chains(session: Session, before: Rebuilt) -> None:
    contract = "deletion/prune-keeps-delta-chain"
    for (thread, latest, channel), expected in before.items():
        address = (thread, "", latest)
        shown = rebuilt(session, address, channel)
        if same_rebuilt(expected, shown):
            session.sheet.agree(contract)
        else:
            session.sheet.differ(contract, "delta", address, expected, shown, settled=True)
