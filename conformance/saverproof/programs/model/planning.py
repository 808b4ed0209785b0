"""Plans puts: the values, versions and provenance of a checkpoint's channels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from saverproof.programs.model.contents import Contents
from saverproof.programs.model.records import Channel, PlannedPut, Provenance, Record, Version
from saverproof.programs.steps.definitions import Put, VersionsBy


def server_version(current: Version | None, number: int) -> Version:
    """Return the version that LangGraph's Agent Server makes after ``current``.

    The server asks no saver for versions: it counts in 32 digits, and tells forks apart by a
    random fraction (``langgraph_api._checkpointer._adapter``). Here the fraction follows from the
    number of the checkpoint, so that a program always has the same versions.
    """
    counted = int(str(current or 0).split(".")[0]) + 1
    return f"{counted:032}.{1 / (number + 1):.16f}"


def plan_put(
    contents: Contents,
    step: Put,
    next_version: Callable[[Version | None], Version],
    next_of_server: Callable[[Version | None, int], Version] = server_version,
) -> PlannedPut:
    """Return what a put stores. One new version serves all channels that it changes.

    The step says whether the saver makes it (``next_version``) or the Agent Server.
    """
    present = contents.record((step.thread, step.namespace, step.number))
    if present is not None and present.step == step:
        return PlannedPut(present.channels, _new_versions(step, present), present.seen, True)
    if step.copy_of is not None:
        source = contents.history(step.thread, step.namespace)[step.copy_of]
        copied = {
            name: replace(channel, provenance=Provenance.COPIED)
            for name, channel in source.channels.items()
        }
        return PlannedPut(copied, {}, source.seen, False)
    parent = _parent(contents, step)
    base = {} if parent is None else parent.channels
    channels: dict[str, Channel] = {name: _carried(channel, step) for name, channel in base.items()}
    new_versions: dict[str, Version] = {}
    if step.changes:
        current = max(versions_taken(contents, step), default=None)
        by_server = step.versions is VersionsBy.AGENT_SERVER
        version = next_of_server(current, step.number) if by_server else next_version(current)
        for name, value in step.changes:
            provenance = Provenance.DROPPED if value is None else Provenance.GIVEN
            channels[name] = Channel(value, version, provenance)
            new_versions[name] = version
    before = {} if parent is None else parent.seen
    now = {"__input__": {}, step.node: {name: c.version for name, c in base.items()}}
    seen = {**before, **now}
    return PlannedPut(channels, new_versions, seen, False)


def versions_taken(contents: Contents, step: Put) -> list[Version]:
    """Return the versions that the version for a put's changes has to exceed.

    They are those of its parent, of the checkpoint that it replaces, and of descendants put
    earlier: along a line of checkpoints, a version of a channel stands for one value. Forks may use
    the same versions.
    """
    history = contents.history(step.thread, step.namespace)
    parent = _parent(contents, step)
    line = [] if parent is None else [parent.channels]
    if step.number in history:
        line.append(history[step.number].channels)
    # A parent's number may be above its child's: clocks differ.
    below = [step.number]
    for number in below:
        children = [*contents.children((step.thread, step.namespace, number))]
        line += [history[child].channels for child in children]
        below += children
    return [channel.version for channels in line for channel in channels.values()]


def _parent(contents: Contents, step: Put) -> Record | None:
    return contents.history(step.thread, step.namespace).get(step.parent or 0)


def _carried(channel: Channel, step: Put) -> Channel:
    if channel.value is None:
        return replace(channel, provenance=Provenance.DROPPED)
    return Channel(
        channel.value,
        channel.version,
        Provenance.CARRIED,
        optional=channel.optional or step.omit_unchanged,
    )


def _new_versions(step: Put, present: Record) -> dict[str, Version]:
    if step.copy_of is not None:
        return {}
    return {name: present.channels[name].version for name, _ in step.changes}
