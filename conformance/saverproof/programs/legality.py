"""Decides which steps are legal in a state: those that LangGraph takes, or that all official savers
accept.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from saverproof.programs.model.records import SPECIAL_INDEX, counted, delta_channels
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import (
    CopyThread,
    Prune,
    Put,
    PutHistory,
    PutWrites,
    Step,
    VersionsBy,
)


@singledispatch
def objection(step: Step, model: Model) -> str | None:
    """Return why a step may not be taken now, or None if it may."""
    return None


@objection.register
def _(step: Put, model: Model) -> str | None:
    history = model.history(step.thread, step.namespace)
    present = history.get(step.number)
    if _is_among_its_ancestors(step, model):
        return "a checkpoint is no ancestor of itself"
    if any(one is not step.versions for one in _makers_of_versions(step.thread, model)):
        return "the versions of a thread have one maker: others do not compare with them"
    if present is not None and present.step == step:
        return None
    if not _counts_as_langgraph_does(step, model):
        return "a delta channel that is counted has a version, and was counted once at least"
    if step.copy_of is not None:
        source = history.get(step.copy_of)
        if source is None or present is not None:
            return "a copy-fork needs its source, and an id of its own"
        # What is put again under the parent's id may be of another branch, with the same versions.
        if source.parent_may_be_gone:
            return "a copy-fork's source still has the parent that it was put with"
        return None if source.parent == step.parent else "a copy-fork has its source's parent"
    if present is None:
        if (step.thread, step.namespace, step.parent) in model.gone:
            return "the parent was removed"
        return None
    if present.parent != step.parent or present.step.copy_of is not None:
        return "an id is put again with the same parent, and not over a copy-fork"
    return None


def _makers_of_versions(thread: str, model: Model) -> Iterator[VersionsBy]:
    for history in model.threads.get(thread, {}).values():
        for record in history.values():
            yield record.step.versions


def _is_among_its_ancestors(step: Put, model: Model) -> bool:
    below = step.parent is not None and step.parent < step.number
    if step.parent is None or (below and not _has_children(step, model)):
        return False
    history = model.history(step.thread, step.namespace)
    ancestor: int | None = step.parent
    while ancestor is not None and ancestor != step.number:
        ancestor = history[ancestor].parent if ancestor in history else None
    return ancestor is not None


def _counts_as_langgraph_does(step: Put, model: Model) -> bool:
    """Return whether the metadata counts delta channels as LangGraph does.

    Each counted channel has a version and a counter above zero, and no put of the namespace drops
    such a channel without counting it. LangGraph gives a channel a version in the superstep that it
    counts as an update, and leaves out counters of zero (``PregelLoop._put_checkpoint``). A channel
    without updates is counted, too; here it has a version all the same, so that a shortened program
    does not keep writes to it.
    """
    counters = counted(step.metadata or {})
    history = model.history(step.thread, step.namespace)
    parent = history.get(step.parent or 0)
    inherited = {} if parent is None else parent.channels
    there = {*inherited, *(name for name, _ in step.changes)}
    if not (counters.keys() <= there and all(map(any, counters.values()))):
        return False
    others = [record for number, record in history.items() if number != step.number]
    puts = [step, *(record.step for record in others)]
    deltas = {*counters, *delta_channels(others)}
    return all(deltas.isdisjoint(_dropped_uncounted(put)) for put in puts)


def _dropped_uncounted(step: Put) -> set[str]:
    return {name for name, value in step.changes if value is None} - {*counted(step.metadata or {})}


def _has_children(step: Put, model: Model) -> bool:
    return model.has_children((step.thread, step.namespace, step.number))


@objection.register
def _(step: PutHistory, model: Model) -> str | None:
    history = model.history(step.thread, step.namespace)
    numbers = range(step.number, step.number + step.count)
    if step.count < 1 or any(number in numbers for number in history):
        return "the checkpoints of a history are new"
    if VersionsBy.AGENT_SERVER in _makers_of_versions(step.thread, model):
        return "the saver makes the versions of a history"
    if step.parent is not None and (step.parent not in history or step.parent > step.number):
        return "a history begins below a checkpoint that is there"
    if any(record.parent in numbers for record in history.values()):
        return "a history has no children yet"
    return None


@objection.register
def _(step: PutWrites, model: Model) -> str | None:
    special = [channel for channel, _ in step.writes if channel in SPECIAL_INDEX]
    if len(special) != len(set(special)):
        return "a special channel stands at most once in a batch"
    if step.task == 0 and step.path:
        return "the null task has no path"
    stored = model.writes.get((step.thread, step.namespace, step.number), {})
    for position, (channel, _) in enumerate(step.writes):
        earlier = stored.get((step.task, SPECIAL_INDEX.get(channel, position)))
        if earlier is not None and earlier.path != step.path:
            return "a retry keeps its task path"
    return None


@objection.register
def _(step: CopyThread, model: Model) -> str | None:
    if step.source == step.target or step.source not in model.threads:
        return "a copy needs a source with checkpoints, and another target"
    holds = {*model.threads, *(a[0] for a in model.writes), *(a[0] for a in model.unexpected)}
    if step.target in holds:
        return "the target of a copy holds nothing"
    return None


@objection.register
def _(step: Prune, model: Model) -> str | None:
    return None if len(set(step.threads)) == len(step.threads) else "a thread is named twice"
