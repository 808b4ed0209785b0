"""Compares a whole store with the model, and lets the model follow what it had left open."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from saverproof.judging import facts
from saverproof.judging.answers import field, part, place, shown_id
from saverproof.judging.context import Context
from saverproof.judging.facts import Cause, FactLog, Raised
from saverproof.judging.fields import GONE, OWN_ADDRESS, THERE, Newest, OfId
from saverproof.judging.looks import ById, Latest
from saverproof.judging.tuples import is_another, judge_tuple
from saverproof.programs.model.records import Address
from saverproof.programs.steps.identifiers import mint

NEVER_USED = "neverused"
_NO_SUCH_NUMBER = 999_999
"""A checkpoint number that no program uses."""
_VERY_MANY = 60
"""The number of checkpoints above which the whole store is not read after each step: the reads
would grow with the square of the number. Random programs have fewer; what shows only in a hundred
namespaces was shortened twice as slowly with 300.
"""
_MANY = 20
"""The number of checkpoints up to which a copy or a prune is not preceded by reads, which could
hide what shows only of a store that is not read. Savers that keep only the newest keep more.
"""


def check_store(context: Context) -> None:
    """Read every checkpoint that is or was there, or has early writes, and the latest of each
    namespace.
    """
    model = context.model
    for address in dict.fromkeys((*model.addresses(), *model.gone, *model.writes)):
        read_back(context, address)
    for thread, namespaces in list(model.threads.items()):
        for namespace in list(namespaces):
            look_at_latest(context, thread, namespace)
    _count_isolation(context)


def _count_isolation(context: Context) -> None:
    threads = context.model.threads
    if len(threads) > 1:
        context.facts.agree(facts.THREADS_APART, len(threads))
    copies = sum(pair <= threads.keys() for pair in context.model.copies)
    if copies:
        context.facts.agree(facts.COPIES_APART, copies)
    many = sum(len(namespaces) > 1 for namespaces in threads.values())
    if many:
        context.facts.agree(facts.NAMESPACES_APART, many)


def read_back(context: Context, address: Address) -> None:
    """Read a checkpoint by its id and judge the answer, whether or not it should be there."""
    if address in context.model.unexpected:
        return
    look = ById(address)
    judge_read(context, context.facts.by(look), address, look.ask(context))


def judge_read(context: Context, log: FactLog, address: Address, observed: Any) -> None:
    """Judge the answer to a read of one address. If the saver holds something else, the model is
    brought in line with it.
    """
    model = context.model
    present = model.record(address) is not None
    known = context.unreadable.pop(address, None)
    if isinstance(observed, Raised):
        if present:
            context.unreadable[address] = known or log.differ(
                facts.UNREADABLE, address, "the checkpoint", observed
            )
        elif known is None:
            # If reads of any unknown id raise, what happened here is not the cause.
            alike = answers_unknown_alike(context, address, observed)
            cause = Cause.ANY_UNKNOWN if alike else None
            log.differ(facts.UNKNOWN_RAISES, address, None, observed, cause=cause)
        return
    if not present:
        if observed is None:
            log.agree(facts.ABSENT)
            if address in model.gone:
                log.agree(facts.REMOVED.get(model.gone[address], facts.ABSENT))
            elif any(address[2] in other for other in model.threads.get(address[0], {}).values()):
                log.agree(facts.NAMESPACES_APART)
        else:
            another = is_another(model, address, observed)
            alike = another or answers_unknown_alike(context, address, observed)
            own = context.model.history(*address[:2])
            taken = None if alike or not own else _taken_from(context, *address[:2], observed)
            cause = Cause.ANY_UNKNOWN if alike else taken
            log.differ(facts.EXTRA, address, None, observed, cause=cause, part=GONE)
            model.adopt(address)
        return
    if observed is None:
        log.differ(facts.MISSING, address, "the checkpoint", None, part=THERE)
        model.mark_missing(address)
        return
    if _is_unknown_to_it(context, address, observed):
        # Nothing is wrong with the tuple itself, which is what the saver has for any unknown id.
        asked, part_of = mint(address[2]), OfId(address[2])
        log.differ(facts.MISSING, address, asked, shown_id(observed), part=part_of)
        model.mark_missing(address)
        return
    judge_tuple(log, model, address, observed, context.real(address[0]))


def answers_unknown_alike(context: Context, address: Address, observed: Any) -> bool:
    """Return whether an id that was never put gets the same kind of answer: a tuple, or an
    exception.

    The read is made in the same thread if the model knows that thread, else in an unused one.
    """
    thread, namespace, _ = address
    known = thread if thread in context.model.threads else NEVER_USED
    answer = ById((known, namespace, _NO_SUCH_NUMBER)).ask(context)
    return answer is not None and isinstance(answer, Raised) == isinstance(observed, Raised)


def _is_unknown_to_it(context: Context, address: Address, observed: Any) -> bool:
    """Return whether another checkpoint is shown, the same one as for an id that was never put."""
    shown = shown_id(observed)
    if shown is None or shown == mint(address[2]):
        return False
    answer = ById((*address[:2], _NO_SUCH_NUMBER)).ask(context)
    return not isinstance(answer, Raised) and shown_id(answer) == shown


def look_at_latest(context: Context, thread: str, namespace: str) -> None:
    """Read a namespace without an id, and judge that its newest checkpoint comes."""
    look = Latest(thread, namespace)
    judge_latest(context, context.facts.by(look), thread, namespace, look.ask(context))


def judge_latest(
    context: Context, log: FactLog, thread: str, namespace: str, observed: Any
) -> None:
    """Judge the answer to a read without an id."""
    latest = context.model.latest(thread, namespace)
    if isinstance(observed, Raised) and (thread, namespace, latest) in context.unreadable:
        return
    if latest is None:
        _judge_nothing(context, log, thread, namespace, observed)
        return
    newest = Newest(thread, namespace)
    if isinstance(observed, Raised) or observed is None:
        log.differ(facts.LATEST, None, mint(latest), observed, part=newest)
        return
    shown, named = shown_id(observed), place(field(observed, "config"))
    asked = (context.real(thread), namespace, mint(latest))
    right = shown == mint(latest)
    cause = None if right and named == asked else _taken_from(context, thread, namespace, observed)
    if right and cause is None:
        log.agree(facts.LATEST)
        judge_tuple(log, context.model, (thread, namespace, latest), observed, asked[0])
    elif right:
        address = (thread, namespace, latest)
        log.differ(facts.ADDRESS, address, asked, named, cause=cause, part=OWN_ADDRESS)
    elif not _is_unexpected(context, thread, namespace, observed):
        log.differ(facts.LATEST, None, mint(latest), shown, cause=cause, part=newest)


def _judge_nothing(
    context: Context, log: FactLog, thread: str, namespace: str, observed: Any
) -> None:
    """Judge the answer to a read without an id, of a namespace that holds nothing."""
    if observed is None:
        log.agree(facts.ABSENT)
    elif not _is_unexpected(context, thread, namespace, observed):
        address = _shown_address(context, thread, namespace, observed)
        if cause := _taken_from(context, thread, namespace, observed):
            address = None
        log.differ(facts.EXTRA, address, None, observed, cause=cause, part=GONE)
        if address is not None:
            context.model.adopt(address)


def _taken_from(context: Context, thread: str, namespace: str, observed: Any) -> Cause | None:
    """Return the cause if another place's checkpoint is shown, or None."""
    model, shown = context.model, shown_id(observed)
    owners = {
        (other, inside)
        for other, inside, number in model.addresses()
        if mint(number) == shown and (other, inside) != (thread, namespace)
    }
    if own := _shown_address(context, thread, namespace, observed):
        owners = {owner for owner in owners if _is_not_stored(context, own, owner, observed)}
    elif _put_elsewhere(context, thread, shown):
        return Cause.ELSEWHERE
    if not owners:
        return None
    named = part(field(observed, "config"), "thread_id")
    if named == context.real(thread) and any(other == thread for other, _ in owners):
        return Cause.OTHER_NAMESPACE
    others = {other for other, _ in owners} - {thread}
    # An answer that names another thread itself is none of what was copied.
    if others and named == context.real(thread) and others <= _copies_of(context, thread):
        return Cause.OTHER_COPY
    return Cause.OTHER_THREAD if others else None


def _copies_of(context: Context, thread: str) -> set[str]:
    return {other for pair in context.model.copies if thread in pair for other in pair}


def _is_not_stored(context: Context, own: Address, owner: tuple[str, str], observed: Any) -> bool:
    """Return whether an answer shows ``owner``'s checkpoint, which is not what ``own`` stores.

    Both have the same id. The answer names the owner's thread and namespace, but a read of ``own``
    by its id does not.
    """
    config = field(observed, "config")
    if place(config)[:2] != (context.real(owner[0]), owner[1]):
        return False
    stored = ById(own).ask(context)
    return not isinstance(stored, Raised) and place(field(stored, "config")) != place(config)


def _put_elsewhere(context: Context, thread: str, shown: Any) -> bool:
    """Return whether this checkpoint was put into the thread in another workspace."""
    return any((thread, shown) == (other, mint(number)) for other, number in context.elsewhere)


def _shown_address(context: Context, thread: str, namespace: str, observed: Any) -> Address | None:
    shown = shown_id(observed)
    numbers = known_numbers(context, [(thread, namespace)])
    number = next((n for n in numbers if mint(n) == shown), None)
    return None if number is None else (thread, namespace, number)


def _is_unexpected(context: Context, thread: str, namespace: str, observed: Any) -> bool:
    return _shown_address(context, thread, namespace, observed) in context.model.unexpected


def known_numbers(context: Context, places: Iterable[tuple[str, str]]) -> set[int]:
    """Return all numbers that were ever put into these namespaces, or shown there unexpectedly."""
    model = context.model
    wanted = set(places)
    numbers = {n for t, ns in wanted for n in model.history(t, ns)}
    numbers |= {n for t, ns, n in [*model.gone, *model.unexpected] if (t, ns) in wanted}
    return numbers


def touch(context: Context, address: Address) -> None:
    """Look at the address that a step wrote to, or at the whole store if judging is thorough.

    A large store is looked at as a whole only at the end of the program.
    """
    if not context.reads:
        return
    if context.thorough and not is_large(context):
        check_store(context)
    else:
        read_back(context, address)


def is_large(context: Context) -> bool:
    """Return whether the store is too large to be looked at as a whole after each step."""
    return _count(context) > _VERY_MANY


def may_have_lost(context: Context) -> bool:
    """Return whether the store is so large that a saver may have lost something unnoticed."""
    return is_large(context) or (not context.thorough and _count(context) > _MANY)


def _count(context: Context) -> int:
    return sum(1 for _ in context.model.addresses())
