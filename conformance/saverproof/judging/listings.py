"""Takes listings: what they select, in which order, and how far a limit lets them go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from saverproof.execution.calls import read_config
from saverproof.judging.filters import FILTER_CONTRACTS, contract_of_filter
from saverproof.judging.listing_answer import Listing, ask
from saverproof.judging.refusals import (
    BEFORE,
    SELECTS,
    judge_refusal,
    plainer_forms,
    refuses_nones,
)
from saverproof.judging.session import Raised, Session, perform
from saverproof.judging.sheet import Sheet
from saverproof.judging.store_check import judge_read
from saverproof.judging.tuples import judge_tuple
from saverproof.model.records import Address, Record
from saverproof.model.store import Model
from saverproof.steps.definitions import IdForm, ListTuples, WalkPages
from saverproof.steps.identifiers import mint

NEWEST_FIRST = "ordering/list-newest-first"
LIMIT = "ordering/limit-is-a-prefix"


@perform.register
def _(step: ListTuples, session: Session) -> None:
    unlimited = replace(step, limit=None)
    listing = ask(session, unlimited)
    if listing.error is not None:
        judge_refusal(session, unlimited, listing.error)
        return
    _judge_selection(session, unlimited, listing)
    _judge_order(session.sheet, listing, step)
    for address, item in listing.items:
        if session.model.record(address) is not None:
            judge_listed(session, address, item)
    if step.limit is not None:
        _judge_limit(session, step, listing)


def _judge_selection(session: Session, step: ListTuples, listing: Listing) -> None:
    expected = set(session.model.listing(step))
    shown = Counter(listing.addresses)
    for address in sorted(shown.keys() - expected):
        if session.model.record(address) is not None:
            _is_there(session, address)
        contract = _contract_of_extra(session.model, step, address)
        if contract in FILTER_CONTRACTS and _ignores_filters(session, step):
            contract = FILTER_CONTRACTS[0]
        _differ(session, contract, step, listing)
    for address in sorted(expected - shown.keys()):
        if _is_there(session, address):
            _differ(session, _contract_of_missing(session, step, address), step, listing)
    for address, times in shown.items():
        if times > 1:
            _differ(session, _contract_of_twice(session.model, address), step, listing)
    if expected == shown.keys():
        for contract in tested_by(step):
            session.sheet.agree(contract)


def _ignores_filters(session: Session, step: ListTuples) -> bool:
    """Whether a filter that nothing fits narrows the listing no more than this one does."""
    return bool(ask(session, replace(step, filter={"source": "no such source"})).addresses)


def _differ(session: Session, contract: str, step: ListTuples, listing: Listing) -> None:
    expected = [_named(address) for address in session.model.listing(step)]
    shown = [_named(address) for address in listing.addresses]
    session.sheet.differ(contract, "selection", None, expected, shown, settled=True)


def _named(address: Address) -> tuple[str, str, str]:
    thread, namespace, number = address
    return thread, namespace, mint(number) if number >= 0 else "an id never put"


def tested_by(step: ListTuples) -> Iterator[str]:
    """The contracts that a right selection is evidence for."""
    yield SELECTS
    if step.before is not None:
        yield BEFORE
    if step.filter:
        yield contract_of_filter(step.filter)
    if step.id_form is not IdForm.ABSENT:
        yield "identity/none-id-is-latest"
    if step.extras.loop:
        yield "identity/loop-configs"


def _contract_of_extra(model: Model, step: ListTuples, address: Address) -> str:
    """Why a checkpoint that is listed should not be."""
    from saverproof.judging.blame import REMOVED_BY

    thread, namespace, number = address
    record = model.record(address)
    if record is None:
        return REMOVED_BY.get(model.gone.get(address, ""), SELECTS)
    if step.thread is not None and thread != step.thread:
        return "isolation/threads"
    if step.namespace is not None and namespace != step.namespace:
        return SELECTS
    if step.number is not None and number != step.number:
        return SELECTS
    if step.before is not None and number >= step.before:
        return BEFORE
    return _contract_of_metadata(model, step, address) or contract_of_filter(
        step.filter or {}, record.merged | record.metadata
    )


def _contract_of_metadata(model: Model, step: ListTuples, address: Address) -> str | None:
    """The contract of the metadata that a filter asks for, if the saver shows them wrongly."""
    record = model.record(address)
    doubts = record.doubts if record is not None else set()
    for key in step.filter or {}:
        if record is not None and f"metadata:{key}" in doubts:
            merged = key in record.merged
            return f"serialization/{'config-metadata-merged' if merged else 'metadata'}"
    return None


def _contract_of_missing(session: Session, step: ListTuples, address: Address) -> str:
    if contract := _contract_of_metadata(session.model, step, address):
        return contract
    for contract, plainer in plainer_forms(step):
        if address in ask(session, plainer).addresses:
            return contract
    return SELECTS


def _contract_of_twice(model: Model, address: Address) -> str:
    record = model.record(address)
    if record is None or record.puts == 1:
        return SELECTS
    again = "upsert/put-is-idempotent" in record.last_marks
    return "upsert/put-is-idempotent" if again else "upsert/put-replaces"


def _is_there(session: Session, address: Address) -> bool:
    """Read the checkpoint by its id; if it is not there either, the listing is not at fault."""
    config = read_config(address, session.real(address[0]))
    observed = session.attempt(lambda: session.reader.get_tuple(config))
    sheet = Sheet()
    judge_read(session, sheet, address, observed)
    session.sheet.differences += sheet.differences
    return observed is not None and not isinstance(observed, Raised)


def judge_listed(session: Session, address: Address, item: Any) -> None:
    """Compare a listed tuple; what differs in it is first looked up by id."""
    record = session.model.record(address)
    assert record is not None
    model = session.model
    doubts, writes = set(record.doubts), model.pending(address)
    doubted = [write.doubted for write in writes]
    values_doubted, writes_doubted = len(model.doubted_values), address in model.doubted_writes
    sheet = Sheet()
    judge_tuple(sheet, session.model, address, item, session.real(address[0]))
    if not sheet.differences:
        session.sheet.checked += sheet.checked
        session.sheet.agree("pending-writes/same-in-list")
        return
    # The doubts are only due to the listing so far: look by id with an open mind.
    record.doubts = doubts
    for write, before in zip(writes, doubted, strict=True):
        write.doubted = before
    if len(model.doubted_values) > values_doubted:
        _trust_values_again(model, record, address)
    if not writes_doubted:
        model.doubted_writes.discard(address)
    by_id = session.attempt(
        lambda: session.reader.get_tuple(read_config(address, session.real(address[0])))
    )
    straight = Sheet()
    judge_read(session, straight, address, by_id)
    if straight.differences:
        session.sheet.differences += straight.differences
        return
    for difference in sheet.differences:
        if difference.fact.startswith("write"):
            difference.contract = "pending-writes/same-in-list"
        difference.settled = True
        session.sheet.differences.append(difference)


def _trust_values_again(model: Model, record: Record, address: Address) -> None:
    thread, namespace, _ = address
    for name, channel in record.channels.items():
        model.doubted_values.discard((thread, namespace, name, channel.version))


def _judge_order(sheet: Sheet, listing: Listing, step: ListTuples) -> None:
    by_place: dict[tuple[str, str], list[int]] = {}
    for thread, namespace, number in listing.addresses:
        by_place.setdefault((thread, namespace), []).append(number)
    for (thread, namespace), numbers in by_place.items():
        if numbers == sorted(numbers, reverse=True):
            if len(numbers) > 1:
                sheet.agree(NEWEST_FIRST)
            continue
        expected = [mint(n) for n in sorted(numbers, reverse=True)]
        shown = [mint(n) for n in numbers]
        sheet.differ(
            NEWEST_FIRST, "order", (thread, namespace, numbers[0]), expected, shown, settled=True
        )
    if step.thread is None and len(by_place) > 1:
        numbers = [number for _, _, number in listing.addresses]
        expected_all = sorted(numbers, reverse=True)
        contract = "ordering/all-threads-newest-first"
        sheet.compare(contract, "order", None, expected_all, numbers, settled=True)


def _judge_limit(session: Session, step: ListTuples, unlimited: Listing) -> None:
    assert step.limit is not None
    limited = ask(session, step)
    if limited.error is not None:
        session.sheet.differ(LIMIT, "raised", None, "a listing", limited.error, settled=True)
        return
    shown, whole = limited.addresses, unlimited.addresses
    places = {address[:2] for address in whole}
    if len(places) <= 1:
        right = shown == whole[: step.limit]
    else:
        count = min(step.limit, len(whole))
        right = len(shown) == count and not Counter(shown) - Counter(whole)
    if right:
        session.sheet.agree(LIMIT)
    else:
        expected = [_named(a) for a in whole[: step.limit]]
        found = [_named(a) for a in shown]
        session.sheet.differ(LIMIT, "limit", None, expected, found, settled=True)


@perform.register
def _(step: WalkPages, session: Session) -> None:
    contract = "ordering/pages-tile"
    history = session.model.history(step.thread, step.namespace)
    seen: list[int] = []
    before: int | None = None
    for _ in range(len(history) + 2):
        asked = ListTuples(step.thread, step.namespace, before=before, limit=step.size)
        page = ask(session, asked)
        numbers = [number for _, _, number in page.addresses]
        if page.error is not None and (
            session.unreadable or refuses_nones(session, asked, page.error)
        ):
            return
        if page.error is not None or not numbers or numbers[-1] < 0:
            break
        seen += numbers
        before = numbers[-1]
    expected = sorted(history, reverse=True)
    if sorted(seen, reverse=True) == expected:
        session.sheet.agree(contract)
        return
    session.sheet.differ(
        contract,
        "pages",
        None,
        [mint(n) for n in expected],
        [mint(n) if n >= 0 else "an id never put" for n in seen],
        settled=True,
    )
