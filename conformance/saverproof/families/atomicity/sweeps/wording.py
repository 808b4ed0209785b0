"""Puts into words how a look differs from the states before and after the operation."""

from __future__ import annotations

from collections.abc import Iterator

from saverproof.families.atomicity.sweeps.reference_states import References, ReferenceStates, apart
from saverproof.families.atomicity.trials.observation import OperationEnding, Viewpoint
from saverproof.programs.steps.identifiers import mint
from saverproof.savers.execution.settled_calls import Key
from saverproof.savers.execution.view import UNREADABLE, Contents, Snapshot, is_latest

_MOST = 4
_NUMBERS = {mint(number): number for number in range(1, 30)}


def place(key: Key) -> str:
    """Return the name of a checkpoint in programs."""
    thread, namespace, checkpoint = key
    inside = f", namespace {namespace!r}" if namespace else ""
    named = "the latest checkpoint" if is_latest(key) else f"checkpoint {_number(checkpoint)}"
    return f"{named} of thread {thread!r}{inside}"


def _number(checkpoint: str) -> str:
    return str(_NUMBERS.get(checkpoint, checkpoint))


def portrait(references: References, snapshot: Snapshot, like: Viewpoint) -> str:
    """Return each checkpoint that the operation has changed, or should have changed, in words."""
    before, after = references.before.snapshots[like], references.after.snapshots[like]
    lines = []
    for key, state in apart(references, snapshot, like):
        shown = snapshot.at(key)
        if state is ReferenceStates.NEITHER:
            other = shown if shown is not None else before.at(key) or after.at(key)
            text = _difference(key, shown, before.at(key), other)
        elif state is ReferenceStates.BEFORE:
            text = f"as before ({_shape(key, shown)})"
        else:
            text = f"as after the whole operation ({_shape(key, shown)})"
        lines.append(f"{place(key)}: {text}")
    lines += _in_listings(snapshot, before, after)
    lines += _among_all(snapshot, before, after)
    if not lines:
        return "no difference"
    more = f"; and {len(lines) - _MOST} more" if len(lines) > _MOST else ""
    return "; ".join(lines[:_MOST]) + more


def _in_listings(snapshot: Snapshot, before: Snapshot, after: Snapshot) -> Iterator[str]:
    """Yield the checkpoints that their thread's listing shows differently from a read by id. Those
    that also differ in a clean run are left out.
    """
    usual = _unlike_in_listing(before).keys() | _unlike_in_listing(after).keys()
    for key, how in _unlike_in_listing(snapshot).items():
        if key not in usual:
            yield f"{place(key)}: {how} by the listing of its thread"


def _unlike_in_listing(look: Snapshot) -> dict[Key, str]:
    found = {}
    for key, read in look.by_key.items():
        listing = (look.listed or {}).get(key[0])
        listed = None if listing is None else listing.get(key)
        if listing is not None and not is_latest(key) and listed != read:
            shown = "shown" if read is None else "shown otherwise"
            found[key] = "not shown" if listed is None else shown
    return found


def _among_all(snapshot: Snapshot, before: Snapshot, after: Snapshot) -> Iterator[str]:
    """Yield the checkpoints that list(None) shows and their thread's listing does not, or the other
    way round. Checkpoints for which this is also so in a clean run are left out.
    """
    usual = _unlike_in_all(before) | _unlike_in_all(after)
    for key in sorted(k for k in _unlike_in_all(snapshot) - usual if not is_latest(k)):
        there = "shown" if key in (snapshot.among_all or ()) else "not shown"
        yield f"{place(key)}: {there} by list(None)"


def _unlike_in_all(look: Snapshot) -> set[Key]:
    if look.among_all is None or look.listed is None:
        return set()
    return {key for shown in look.listed.values() for key in shown} ^ look.among_all


def wanted_portrait(
    references: References, ending: OperationEnding, like: Viewpoint, snapshot: Snapshot
) -> str:
    """Return what a look should have shown of the checkpoints that ``portrait`` tells of."""
    before, after = references.before.snapshots[like], references.after.snapshots[like]
    keys = [key for key, _ in apart(references, snapshot, like)][:_MOST]

    def shapes(look: Snapshot) -> str:
        return "; ".join(f"{place(key)}: {_shape(key, look.at(key))}" for key in keys)

    if ending is OperationEnding.RETURNED:
        return f"all of it ({shapes(after)})"
    return f"nothing of it ({shapes(before)}), or all of it ({shapes(after)})"


def _shape(key: Key, shown: Contents | None) -> str:
    if shown is None:
        return "not there"
    if UNREADABLE in shown:
        return str(shown[UNREADABLE])
    count = len(shown["writes"])
    which = f"checkpoint {_number(shown['checkpoint']['id'])}, " if is_latest(key) else ""
    return f"{which}{count} pending write{'' if count == 1 else 's'}"


def _difference(
    key: Key, shown: Contents | None, before: Contents | None, other: Contents | None
) -> str:
    if shown is None or other is None or UNREADABLE in shown:
        return _shape(key, shown)
    reference = before or other
    parts = [
        part
        for part in ("checkpoint", "metadata", "parent")
        if UNREADABLE not in reference and shown[part] != reference[part]
    ]
    return f"{_shape(key, shown)}{', another ' + ' and '.join(parts) if parts else ''}"
