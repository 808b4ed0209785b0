"""Takes steps that list checkpoints: judges their selection, order, content and limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from saverproof.judging import facts
from saverproof.judging.context import Context
from saverproof.judging.facts import Cause, Difference, Fact, FactLog, Listed, Raised
from saverproof.judging.filters import sort_of
from saverproof.judging.listing_answer import Listing, ask
from saverproof.judging.looks import ById, InListing, OwnAnswer, WholeListing
from saverproof.judging.second_looks import cause_of_missing, judge_refusal, refuses_nones
from saverproof.judging.store_check import judge_read
from saverproof.judging.tuples import judge_tuple
from saverproof.programs.model.records import Address, Record
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import IdForm, ListTuples, WalkPages
from saverproof.programs.steps.identifiers import mint
from saverproof.scripts.complaints import address_source, compare, complain
from saverproof.scripts.source import quoted
from saverproof.scripts.writer import ScriptWriter

_MOST_LOOKED_INTO = 8
"""How many missing checkpoints of one listing are looked into. The others are taken to be missing
for the same cause as the last of these.
"""


def take_list_tuples(step: ListTuples, context: Context) -> None:
    """List without the limit, judge selection, order and content, and then list with the limit."""
    unlimited = replace(step, limit=None)
    listing = ask(context, unlimited)
    if listing.error is not None:
        judge_refusal(context, unlimited, listing.error)
        return
    _judge_selection(context, unlimited, listing)
    _judge_order(context.facts, listing, step)
    for address, item in listing.items:
        if context.model.record(address) is not None:
            judge_listed(context, unlimited, address, item)
    if step.limit is not None:
        _judge_limit(context, step, listing)


def _judge_selection(context: Context, step: ListTuples, listing: Listing) -> None:
    model = context.model
    expected = set(model.listing(step))
    shown = Counter(listing.addresses)
    for address in sorted(shown.keys() - expected):
        if model.record(address) is not None:
            _look_by_id(context, address)
        listed = _known_of(model, step, address)
        # If only the filter excludes it, find out whether the saver ignores all filters.
        filtered = not listed.wrong_metadata and address in model.listing(
            replace(step, filter=None)
        )
        if filtered and _ignores_filters(context, step):
            listed = replace(listed, filters_ignored=True)
        _differ(context, facts.SELECTED, step, listing, listed)
    told: Difference | None = None
    for number, address in enumerate(sorted(expected - shown.keys())):
        if number >= _MOST_LOOKED_INTO and told is not None:
            told.explains.append(Difference(facts.SELECTION, address, "in the listing", "lost"))
            continue
        if behind := _look_by_id(context, address):
            lost = Difference(facts.SELECTION, address, "in the listing", "not in it")
            behind.explains.append(lost)
            continue
        listed = _known_of(model, step, address)
        cause = None if listed.wrong_metadata else cause_of_missing(context, step, address)
        told = _differ(context, facts.SELECTION, step, listing, listed, cause)
    for address, times in shown.items():
        if times > 1:
            _differ(context, facts.SELECTED_TWICE, step, listing, _known_of(model, step, address))
    if expected == shown.keys():
        for fact in tested_by(step):
            context.facts.agree(fact)


def _known_of(model: Model, step: ListTuples, address: Address) -> Listed:
    record = model.record(address)
    doubts = record.doubts if record is not None else set()
    wrong = {key for key in step.filter or {} if f"metadata:{key}" in doubts}
    return Listed(address, record, model.gone.get(address), frozenset(wrong))


def _ignores_filters(context: Context, step: ListTuples) -> bool:
    """Return whether a listing gives checkpoints although its filter fits none."""
    return bool(ask(context, replace(step, filter={"source": "no such source"})).addresses)


def _differ(
    context: Context,
    fact: Fact,
    step: ListTuples,
    listing: Listing,
    listed: Listed,
    cause: Cause | None = None,
) -> Difference:
    expected = [_named(address) for address in context.model.listing(step)]
    shown = [_named(address) for address in listing.addresses]
    return context.facts.differ(
        fact, None, expected, shown, listed=listed, cause=cause, look=_SELECTION
    )


def _named(address: Address) -> tuple[str, str, str]:
    thread, namespace, number = address
    return thread, namespace, mint(number) if number >= 0 else "an id never put"


def tested_by(step: ListTuples) -> Iterator[Fact]:
    """Yield the facts that a right selection is evidence for."""
    yield facts.SELECTION
    if step.before is not None:
        yield facts.BEFORE
    if step.filter:
        yield facts.FILTERED[sort_of(step.filter)]
    if step.thread is not None and step.namespace is None:
        yield facts.WITHOUT_NAMESPACE
    if step.id_form is not IdForm.ABSENT:
        yield facts.NONE_ID
    if step.id_form is IdForm.EMPTY:
        yield facts.EMPTY_ID
    if step.extras.loop:
        yield facts.LOOP_CONFIG


def _look_by_id(context: Context, address: Address) -> Difference | None:
    """Read a checkpoint by its id; return the difference behind it if it cannot be read."""
    look, log = ById(address), FactLog(ById(address))
    observed = look.ask(context)
    judge_read(context, log, address, observed)
    context.facts.differences += log.differences
    context.facts.masked += log.masked
    if isinstance(observed, Raised):
        return context.unreadable[address]
    return log.differences[-1] if observed is None else None


def judge_listed(context: Context, step: ListTuples, address: Address, item: Any) -> None:
    """Compare a tuple from a listing with the model.

    If it differs, read the checkpoint by its id: a difference that this shows as well is noted
    once.
    """
    record = context.model.record(address)
    assert record is not None
    model = context.model
    doubts, looked_at, writes = set(record.doubts), record.looked_at, model.pending(address)
    doubted = [write.doubted for write in writes]
    values_doubted, writes_doubted = len(model.doubted_values), address in model.doubted_writes
    log = FactLog(InListing(step, address))
    judge_tuple(log, context.model, address, item, context.real(address[0]))
    if not log.differences:
        context.facts.merge(log)
        context.facts.agree(facts.LISTED_ALIKE)
        return
    # So far only the listing gave reason to doubt, so the read by id is judged without doubts.
    record.doubts, record.looked_at = doubts, looked_at
    for write, before in zip(writes, doubted, strict=True):
        write.doubted = before
    if len(model.doubted_values) > values_doubted:
        _trust_values_again(model, record, address)
    if not writes_doubted:
        model.doubted_writes.discard(address)
    by_id = ById(address)
    straight = FactLog(by_id)
    judge_read(context, straight, address, by_id.ask(context))
    if straight.differences:
        context.facts.differences += straight.differences
        context.facts.masked += (*straight.masked, *log.masked)
        straight.differences[0].explains += log.differences
        return
    context.facts.masked += log.masked
    if address not in context.unreadable:
        for difference in log.differences:
            if not _is_wrong_by_id(difference, straight):
                difference.cause = difference.cause or Cause.LISTING_ALONE
    context.facts.differences += log.differences


def _is_wrong_by_id(difference: Difference, by_id: FactLog) -> bool:
    """Return whether a read by id is wrong about the same kind of fact as a listing.

    A difference that was noted before is among the masked ones of the read.
    """
    kinds = {other.kind for other in by_id.masked}
    in_writes = difference.kind in facts.OF_WRITES and not kinds.isdisjoint(facts.OF_WRITES)
    return in_writes or difference.kind in kinds


def _trust_values_again(model: Model, record: Record, address: Address) -> None:
    thread, namespace, _ = address
    for name, channel in record.channels.items():
        model.doubted_values.discard((thread, namespace, name, channel.version))


def _judge_order(log: FactLog, listing: Listing, step: ListTuples) -> None:
    by_place: dict[tuple[str, str], list[int]] = {}
    for thread, namespace, number in listing.addresses:
        by_place.setdefault((thread, namespace), []).append(number)
    for (thread, namespace), numbers in by_place.items():
        if numbers == sorted(numbers, reverse=True):
            if len(numbers) > 1:
                log.agree(facts.LISTED_ORDER)
            continue
        expected = [mint(n) for n in sorted(numbers, reverse=True)]
        shown = [mint(n) for n in numbers]
        address = (thread, namespace, numbers[0])
        log.differ(facts.LISTED_ORDER, address, expected, shown, look=_ORDER)
    if step.thread is None and len(by_place) > 1:
        numbers = [number for _, _, number in listing.addresses]
        expected_all = sorted(numbers, reverse=True)
        log.compare(facts.ORDER_OF_ALL, None, expected_all, numbers, look=_ORDER)


def _is_start(shown: list[Address], whole: list[Address], limit: int) -> bool:
    """Return whether a limited listing is the start of the whole one.

    With several namespaces their order is open: any checkpoints of the whole listing will do.
    """
    if len({address[:2] for address in whole}) <= 1:
        return shown == whole[:limit]
    return len(shown) == min(limit, len(whole)) and not Counter(shown) - Counter(whole)


def _judge_limit(context: Context, step: ListTuples, unlimited: Listing) -> None:
    assert step.limit is not None
    limited = ask(context, step)
    if limited.error is not None:
        look = WholeListing(step)
        context.facts.differ(facts.LIMIT_RAISED, None, "a listing", limited.error, look=look)
        return
    if step.limit == 0:
        context.facts.agree(facts.LIMIT_ZERO)
    shown, whole = limited.everything, unlimited.everything
    right = _is_start(shown, whole, step.limit)
    if not right:
        # The limited listing may be right about what the unlimited one leaves out.
        wanted = {*whole, *context.model.listing(replace(step, limit=None))}
        newest_first = sorted(wanted, key=lambda address: address[2], reverse=True)
        right = _is_start(shown, newest_first, step.limit)
    expected = [_named(a) for a in whole[: step.limit]]
    observed = [_named(a) for a in shown]
    context.facts.judge(right, facts.LIMIT, None, expected, observed, look=_LIMIT)


def take_walk_pages(step: WalkPages, context: Context) -> None:
    """Page through a history; together, the pages must give the whole listing."""
    history = context.model.history(step.thread, step.namespace)
    seen: list[int] = []
    before: int | None = None
    for _ in range(len(history) + len(context.model.unexpected) + 2):
        asked = ListTuples(step.thread, step.namespace, before=before, limit=step.size)
        page = ask(context, asked)
        numbers = [number for _, _, number in page.everything]
        if page.error is not None and (
            context.is_for_the_unreadable(facts.PAGES, "a page", page.error)
            or refuses_nones(context, asked, page.error)
        ):
            return
        if page.error is not None or not numbers or numbers[-1] < 0:
            break
        seen += numbers
        before = numbers[-1]
    place, unexpected = (step.thread, step.namespace), context.model.unexpected
    seen = [number for number in seen if (*place, number) not in unexpected]
    if sorted(seen, reverse=True) == sorted(history, reverse=True):
        context.facts.agree(facts.PAGES)
        return
    # No page can give what the saver has lost.
    for number in sorted({*history}.difference(seen)):
        _look_by_id(context, (*place, number))
    expected = sorted(context.model.history(*place), reverse=True)
    if sorted(seen, reverse=True) == expected:
        return
    context.facts.differ(
        facts.PAGES,
        None,
        [mint(n) for n in expected],
        [mint(n) if n >= 0 else "an id never put" for n in seen],
        look=_PAGES,
    )


# --- in scripts --------------------------------------------------------------------------------


def _items(writer: ScriptWriter, arguments: Sequence[str], *, by_id: bool) -> str:
    """Return an expression for the ids, or the addresses, that a listing gives."""
    if by_id:
        return writer.listing(*arguments, item='found.checkpoint["id"]')
    writer.helpers.add("address")
    return writer.listing(*arguments, item="address(found.config)")


def _ids_tell(writer: ScriptWriter, difference: Difference) -> bool:
    """Return whether the ids alone show the difference, without thread and namespace."""
    listings = (difference.expected, difference.observed)
    expected, observed = ([named[2] for named in listing] for listing in listings)
    return writer.ids_are_unique and sorted(expected) != sorted(observed)


def _show_selection(writer: ScriptWriter, step: ListTuples, difference: Difference) -> None:
    by_id = _ids_tell(writer, difference)
    expected = sorted(writer.model.listing(step), key=lambda a: a[2:] if by_id else a)
    sources = [writer.id(a[2]) if by_id else address_source(writer, a) for a in expected]
    arguments = writer.list_arguments(replace(step, limit=None))
    listed = _items(writer, arguments, by_id=by_id)
    compare(writer, f"sorted({listed})", f"[{', '.join(sources)}]")


def _show_order(writer: ScriptWriter, step: ListTuples, difference: Difference) -> None:
    """Write a comparison of the order, within the namespace of the difference if it has one."""
    arguments = writer.list_arguments(replace(step, limit=None))
    places = {address[:2] for address in writer.model.listing(step)}
    if difference.address is None or len(places) == 1:
        writer.say(f"observed = {_items(writer, arguments, by_id=True)}")
    else:
        thread, namespace, _ = difference.address
        writer.say(f"listed = {_items(writer, arguments, by_id=False)}")
        place = f"({quoted(thread)}, {quoted(namespace)})"
        writer.say(f"observed = [at[2] for at in listed if at[:2] == {place}]")
    writer.say("expected = sorted(observed, reverse=True)")
    complain(writer, "observed != expected")


def _show_limit(writer: ScriptWriter, step: ListTuples, difference: Difference) -> None:
    whole = replace(step, limit=None)
    by_id = writer.ids_are_unique
    everything = _items(writer, writer.list_arguments(whole), by_id=by_id)
    observed = _items(writer, writer.list_arguments(step), by_id=by_id)
    writer.say(f"everything = {everything}")
    if len({address[:2] for address in writer.model.listing(whole)}) <= 1:
        compare(writer, observed, f"everything[:{step.limit}]")
    else:
        compare(writer, f"len({observed})", f"min({step.limit}, len(everything))")


def _show_pages(writer: ScriptWriter, step: WalkPages, difference: Difference) -> None:
    """Write a walk over the pages of a history, compared with the whole listing."""
    history = sorted(writer.model.history(step.thread, step.namespace), reverse=True)
    listing = writer.listing(
        writer.config(step.thread, step.namespace), "before=before", f"limit={step.size}"
    )
    writer.say(
        "observed, before = [], None",
        f"for _ in range({len(history) + 2}):",
        f"    page = {listing}",
        '    observed += [item.checkpoint["id"] for item in page]',
        "    before = config(checkpoint_id=observed[-1]) if page else before",
        f"expected = [{', '.join(map(writer.id, history))}]",
    )
    complain(writer, "sorted(observed, reverse=True) != expected")


_SELECTION, _ORDER = OwnAnswer(_show_selection), OwnAnswer(_show_order)
_LIMIT, _PAGES = OwnAnswer(_show_limit), OwnAnswer(_show_pages)
