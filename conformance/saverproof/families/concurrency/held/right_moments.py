"""Computes what a right saver shows of a checkpoint before a change and after each of its calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from saverproof.families.concurrency.callers.records import Operation, OperationKind, ShownTuple

Shown = tuple[ShownTuple, ...]


def moments(
    read: Operation, before: Sequence[Operation], change: Sequence[Operation]
) -> Iterator[Shown]:
    """Yield what a read shows before a change, and after each of the change's calls.

    A read must show one of these moments. If it shows an outdated one, the saver's answers are old;
    if it shows none of them, they are mixed.
    """
    checkpoints: dict[int, ShownTuple] = {}
    runs: dict[int, str] = {}
    writes: dict[int, dict[int, tuple[str, ...]]] = {}
    for number, made in enumerate([*before, *change], 1):
        match made.kind:
            case OperationKind.PUT:
                checkpoints[made.number] = ShownTuple(made.number, made.parts)
                runs[made.number] = made.run
            case OperationKind.WRITES:
                writes.setdefault(made.number, {}).setdefault(made.task, made.texts)
            case OperationKind.DELETE | OperationKind.PRUNE_ALL:
                checkpoints.clear()
                writes.clear()
            case OperationKind.DELETE_RUN:
                for one in [*checkpoints]:
                    if runs[one] == made.run:
                        del checkpoints[one]
                        writes.pop(one, None)
        if number >= len(before):
            whole = [_with_writes(one, writes) for one in checkpoints.values()]
            yield _shown(read, whole)


def _with_writes(found: ShownTuple, writes: dict[int, dict[int, tuple[str, ...]]]) -> ShownTuple:
    own = sorted(writes.get(found.number, {}).items())
    return ShownTuple(found.number, found.parts, tuple(own))


def _shown(read: Operation, stored: list[ShownTuple]) -> Shown:
    """Return what a read shows of these checkpoints. A copy shows all of them, like a list."""
    newest_first = sorted(stored, key=lambda one: one.number, reverse=True)
    match read.kind:
        case OperationKind.GET:
            return tuple(one for one in newest_first if one.number == read.number)
        case OperationKind.LATEST:
            return tuple(newest_first[:1])
    return tuple(newest_first)
