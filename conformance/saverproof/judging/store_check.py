"""Looks at a store as a whole, and settles what the model left open."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from saverproof.execution.calls import address_config, read_config
from saverproof.judging.blame import REMOVED_BY
from saverproof.judging.session import Raised, Session
from saverproof.judging.sheet import Sheet
from saverproof.judging.tuples import field, judge_tuple, part, shown_id
from saverproof.model.records import Address
from saverproof.model.store import Model
from saverproof.steps.identifiers import mint

_NEVER_USED = "neverused"
_NO_SUCH_NUMBER = 999_999


def survey(session: Session) -> None:
    """Read every checkpoint that is there or once was, and the latest of each namespace."""
    model = session.model
    for address in [*model.addresses(), *model.gone]:
        read_back(session, address)
    for thread, namespaces in list(model.threads.items()):
        for namespace in list(namespaces):
            look_at_latest(session, thread, namespace)
    _count_isolation(session)


def _count_isolation(session: Session) -> None:
    threads = session.model.threads
    if len(threads) > 1:
        session.sheet.agree("isolation/threads", len(threads))
    copies = sum(pair <= threads.keys() for pair in session.model.copies)
    if copies:
        session.sheet.agree("deletion/copy-independent", copies)
    many = sum(len(namespaces) > 1 for namespaces in threads.values())
    if many:
        session.sheet.agree("isolation/namespaces", many)


def read_back(session: Session, address: Address) -> None:
    """Read one checkpoint by its id and compare it, whether it should be there or not."""
    if address in session.model.ghosts:
        return
    config = read_config(address, session.real(address[0]))
    observed = session.attempt(lambda: session.reader.get_tuple(config))
    judge_read(session, session.sheet, address, observed)


def judge_read(session: Session, sheet: Sheet, address: Address, observed: Any) -> None:
    """Compare the answer to a read of one address; the model goes on with what was seen."""
    model = session.model
    present = model.record(address) is not None
    told = address in session.unreadable
    session.unreadable.discard(address)
    if isinstance(observed, Raised):
        if present:
            session.unreadable.add(address)
        if told:
            return
        sheet.differ(
            "identity/put-returns-address" if present else "identity/unknown-is-none",
            "unreadable",
            address,
            "the checkpoint" if present else None,
            observed,
            # What comes for anything unknown has nothing to do with what happened here.
            settled=not present and answers_unknown_alike(session, address, observed),
        )
        return
    if not present:
        if observed is None:
            sheet.agree("identity/unknown-is-none")
            if address in model.gone:
                sheet.agree(_removal(model.gone[address]))
        else:
            alike = answers_unknown_alike(session, address, observed)
            contract = "identity/unknown-is-none"
            if not alike:
                contract = _taken_from(session, *address[:2], observed) or contract
            sheet.differ(contract, "extra", address, None, observed, settled=alike)
            model.haunt(address)
        return
    if observed is None:
        sheet.differ("identity/put-returns-address", "missing", address, "the checkpoint", None)
        model.lose(address)
        return
    judge_tuple(sheet, model, address, observed, session.real(address[0]))


def answers_unknown_alike(session: Session, address: Address, observed: Any) -> bool:
    """Whether what was never there, in a thread as known as this one, gets such an answer too."""
    thread, namespace, _ = address
    known = thread if thread in session.model.threads else _NEVER_USED
    config = read_config((known, namespace, _NO_SUCH_NUMBER), session.real(known))
    answer = session.attempt(lambda: session.reader.get_tuple(config))
    return answer is not None and isinstance(answer, Raised) == isinstance(observed, Raised)


def _removal(operation: str) -> str:
    return REMOVED_BY.get(operation, "identity/unknown-is-none")


def leave_alone(model: Model, address: Address) -> None:
    """Stop judging a checkpoint of which the saver may do what it likes."""
    model.remove(address, "left alone")
    model.ghosts.add(address)
    model.doubted_writes.add(address)


def look_at_latest(session: Session, thread: str, namespace: str) -> None:
    """Read a namespace without an id and see that the newest checkpoint comes."""
    config = address_config(session.real(thread), namespace, None)
    observed = session.attempt(lambda: session.reader.get_tuple(config))
    judge_latest(session, session.sheet, thread, namespace, observed)


def judge_latest(
    session: Session, sheet: Sheet, thread: str, namespace: str, observed: Any
) -> None:
    """Compare the answer to a read without an id."""
    contract = "ordering/latest-is-greatest-id"
    latest = session.model.latest(thread, namespace)
    if latest is None:
        if observed is None:
            sheet.agree("identity/unknown-is-none")
        elif not _is_ghost(session, thread, namespace, observed):
            address = _shown_address(session, thread, namespace, observed)
            sheet.differ("identity/unknown-is-none", "extra", address, None, observed)
            if address is not None:
                session.model.haunt(address)
        return
    if isinstance(observed, Raised) and (thread, namespace, latest) in session.unreadable:
        return
    if isinstance(observed, Raised) or observed is None:
        sheet.differ(contract, "latest", None, mint(latest), observed, settled=True)
        return
    shown = shown_id(observed)
    if shown == mint(latest):
        sheet.agree(contract)
        judge_tuple(
            sheet, session.model, (thread, namespace, latest), observed, session.real(thread)
        )
    elif not _is_ghost(session, thread, namespace, observed):
        contract = _taken_from(session, thread, namespace, observed) or contract
        sheet.differ(contract, "latest", None, mint(latest), shown, settled=True)


def _taken_from(session: Session, thread: str, namespace: str, observed: Any) -> str | None:
    """The contract on keeping apart that is broken where another place's checkpoint is shown."""
    model, shown = session.model, shown_id(observed)
    own = model.history(thread, namespace)
    if not own or shown in map(mint, own):
        return None
    owners = {
        (other, inside)
        for other, inside, number in model.addresses()
        if mint(number) == shown and (other, inside) != (thread, namespace)
    }
    if not owners:
        return None
    named = part(field(observed, "config"), "thread_id")
    here = any(other == thread for other, _ in owners)
    if here and named == session.real(thread):
        return "isolation/namespaces"
    return "isolation/threads" if any(other != thread for other, _ in owners) else None


def _shown_address(session: Session, thread: str, namespace: str, observed: Any) -> Address | None:
    shown = shown_id(observed)
    numbers = known_numbers(session, [(thread, namespace)])
    number = next((n for n in numbers if mint(n) == shown), None)
    return None if number is None else (thread, namespace, number)


def _is_ghost(session: Session, thread: str, namespace: str, observed: Any) -> bool:
    return _shown_address(session, thread, namespace, observed) in session.model.ghosts


def known_numbers(session: Session, places: Iterable[tuple[str, str]]) -> set[int]:
    """Every number that was ever put in these namespaces, or is a ghost there."""
    model = session.model
    wanted = set(places)
    numbers = {n for t, ns in wanted for n in model.history(t, ns)}
    numbers |= {n for t, ns, n in [*model.gone, *model.ghosts] if (t, ns) in wanted}
    return numbers


def touch(session: Session, address: Address) -> None:
    """After a step that wrote: look at what it touched, or at everything if thorough."""
    if session.thorough:
        survey(session)
    else:
        read_back(session, address)
