"""Takes the steps that read: get_tuple, list, pages, delta history, versions.

A read that comes out wrong is asked again in its plainest form: if that comes out right, the
form is to blame (an id of None, a missing namespace, the loop's own config entries).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from saverproof.execution.calls import get_config
from saverproof.judging.features import evidence
from saverproof.judging.puts import UNTOUCHED, spoil
from saverproof.judging.session import Raised, Session, perform
from saverproof.judging.sheet import Sheet
from saverproof.judging.store_check import judge_latest, judge_read, read_back
from saverproof.judging.tuples import field
from saverproof.steps.definitions import PLAIN, GetTuple, IdForm, NextVersions
from saverproof.values import same


@perform.register
def _(step: GetTuple, session: Session) -> None:
    sheet, observed = _ask(session, step)
    if sheet.differences and (culprit := _culprit(session, step)):
        session.sheet.differ(
            culprit,
            "form",
            None,
            "the answer to the same question in its plain form",
            sheet.differences[0].observed,
            settled=True,
        )
        return
    session.sheet.differences += sheet.differences
    session.sheet.checked += sheet.checked
    if not sheet.differences:
        for contract in evidence(step, session.features):
            session.sheet.agree(contract)
        if step.namespace is None:
            session.sheet.agree("identity/get-defaults-to-root")
    if step.mutate_result and observed is not None and not isinstance(observed, Raised):
        _spoil_result(observed)
        _reread(session, step)


def _ask(session: Session, step: GetTuple) -> tuple[Sheet, Any]:
    sheet = Sheet()
    config = get_config(step, session.real(step.thread))
    observed = session.attempt(lambda: session.reader.get_tuple(config))
    if session.watch_inputs:
        fresh = get_config(step, session.real(step.thread))
        sheet.compare(UNTOUCHED, "input:config", None, fresh, config, settled=True)
    namespace = step.namespace or ""
    if step.number is not None:
        address = (step.thread, namespace, step.number)
        if address not in session.model.ghosts:
            judge_read(session, sheet, address, observed)
    else:
        judge_latest(session, sheet, step.thread, namespace, observed)
    return sheet, observed


def _culprit(session: Session, step: GetTuple) -> str | None:
    for contract, plain in _plainer(step):
        config = get_config(plain, session.real(step.thread))
        form = get_config(step, session.real(step.thread))
        plain_answer = session.attempt(partial(session.reader.get_tuple, config))
        answer = session.attempt(partial(session.reader.get_tuple, form))
        if not alike(plain_answer, answer):
            return contract
    return None


def _plainer(step: GetTuple) -> Iterator[tuple[str, GetTuple]]:
    if step.id_form is not IdForm.ABSENT:
        yield "identity/none-id-is-latest", replace(step, id_form=IdForm.ABSENT)
    if step.namespace is None:
        yield "identity/get-defaults-to-root", replace(step, namespace="")
    if step.extras != PLAIN:
        yield "identity/loop-configs", replace(step, extras=PLAIN)


def alike(left: Any, right: Any) -> bool:
    """Whether two answers to a read say the same, their configs aside."""
    if isinstance(left, Raised) or isinstance(right, Raised):
        return isinstance(left, Raised) and isinstance(right, Raised)
    if left is None or right is None:
        return left is right
    fields = ("checkpoint", "metadata", "pending_writes")
    return all(same(field(left, name), field(right, name)) for name in fields)


def _spoil_result(observed: Any) -> None:
    for name in ("checkpoint", "metadata"):
        found = field(observed, name)
        if isinstance(found, dict):
            spoil(found)
    for write in field(observed, "pending_writes") or ():
        spoil(write[2])


def _reread(session: Session, step: GetTuple) -> None:
    number = step.number
    if number is None:
        number = session.model.latest(step.thread, step.namespace or "")
    if number is None:
        return
    known = len(session.sheet.differences)
    read_back(session, (step.thread, step.namespace or "", number))
    for difference in session.sheet.differences[known:]:
        difference.contract = "identity/snapshots"
        difference.settled = True
    if len(session.sheet.differences) == known:
        session.sheet.agree("identity/snapshots")


@perform.register
def _(step: NextVersions, session: Session) -> None:
    contract = "channels/versions-increase"
    versions: list[Any] = []
    for _ in range(step.count):
        current = versions[-1] if versions else None
        version = session.attempt(partial(session.next_version, current))
        if isinstance(version, Raised):
            session.sheet.differ(contract, "raised", None, "a version", version, settled=True)
            return
        above = current if versions else _empty_of(version)
        if not _greater(version, above):
            session.sheet.differ(
                contract, "version", None, f"above {above!r}", version, settled=True
            )
            return
        session.sheet.agree(contract)
        versions.append(version)


def _empty_of(version: Any) -> Any:
    """What LangGraph takes a channel's version for that has none: its type's empty value."""
    return type(version)()


def _greater(version: Any, than: Any) -> bool:
    try:
        return bool(version > than) and isinstance(version, (str, int, float))
    except TypeError:
        return False
