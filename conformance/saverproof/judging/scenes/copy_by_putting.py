"""The scene of a thread that is copied by putting all of it again, into another thread."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from saverproof.contracts.contract import Contract
from saverproof.contracts.tables import deletion
from saverproof.judging import facts
from saverproof.judging.answers import field, is_mapping, part
from saverproof.judging.context import Context
from saverproof.judging.facts import Difference, Fact, Raised
from saverproof.judging.listing_answer import ask
from saverproof.judging.scenes.scene import Scene
from saverproof.judging.store_check import check_store
from saverproof.programs.directed.finite_sets import versions_by_server
from saverproof.programs.legality import objection
from saverproof.programs.model.records import Address
from saverproof.programs.model.store import Model
from saverproof.programs.small import NEW, THREAD, batch, checkpoint
from saverproof.programs.steps.definitions import (
    CopyThread,
    ListTuples,
    Program,
    Step,
)
from saverproof.programs.steps.describing import text
from saverproof.programs.values import Value, same
from saverproof.savers.execution.calls import PutCall, PutWritesCall, address_config
from saverproof.savers.execution.driver import ApiDriver
from saverproof.scripts.complaints import compare, complain, guarded
from saverproof.scripts.source import quoted
from saverproof.scripts.writer import ScriptWriter

_COPY = Fact("copy", "a checkpoint of the copy is not like its source")
_ALL = "each checkpoint, and its writes, to be put"
_OF_A_WRITE = 3
"""A pending write is its task, its channel and its value."""


@dataclass(frozen=True, slots=True)
class CopyByPutting(Scene):
    """A copy of a thread as LangGraph's Agent Server makes it where a saver has no ``copy_thread``.

    The thread is listed; each of its checkpoints is put into the other thread, the oldest id first,
    with all its versions as new ones, and then its writes, task by task and without their path.
    """

    source: str
    target: str

    about: ClassVar[Contract] = deletion.COPY_BY_PUTTING

    def words(self) -> str:
        return f"list {text(self.source)}, and put all of it again into {text(self.target)}"

    def objection(self, model: Model) -> str | None:
        return objection(self._plain, model)

    @property
    def _plain(self) -> CopyThread:
        return CopyThread(self.source, self.target)

    def play(self, context: Context) -> None:
        context.last_change = self
        model = context.model
        listed = ListTuples(self.source)
        found = ask(context, listed)
        stored = model.listing(listed)
        if (
            found.error is not None
            or not {*found.addresses} <= {*stored}
            or any(_parts(item) is None for _, item in found.items)
        ):
            # What is wrong with the listing is told where listings are judged.
            context.note_blind(_COPY)
            return
        items = sorted(found.items, key=lambda item: item[0][2])
        put = context.attempt(lambda: self._put(context, items))
        # Both are read alike: what get_tuple leaves out of either is no matter of copies. What the
        # listing leaves out is not copied, but it is of the thread.
        sources = {address: _read(context, address) for address in stored}
        model.copy_thread(self.source, self.target)
        for address in stored:
            model.leave_alone((self.target, *address[1:]))
        if isinstance(put, Raised):
            context.facts.by(self).differ(facts.RAISED, None, _ALL, put)
            return
        for address, item in sources.items():
            if _parts(item) is None:
                context.note_blind(_COPY)
            else:
                self._compare(context, address, item)
        check_store(context)

    def _put(self, context: Context, items: list[tuple[Address, Any]]) -> None:
        thread = context.real(self.target)
        for address, item in items:
            _put_again(context.driver, thread, address[1], item)

    def _compare(self, context: Context, address: Address, item: Any) -> None:
        copy, log = (self.target, *address[1:]), context.facts.by(self)
        shown = _read(context, copy)
        if isinstance(shown, Raised):
            log.differ(facts.RAISED, copy, "the copy", shown)
            return
        expected, observed = _parts(item), _parts(shown)
        if expected is None or observed is None:
            log.differ(facts.MISSING, copy, "the copy", shown)
            return
        for name, of_source in expected.items():
            if same(of_source, observed[name]):
                context.facts.agree(self.about)
            else:
                log.differ(_COPY, copy, of_source, observed[name], detail=name)

    def write(self, writer: ScriptWriter) -> None:
        writer.say(*self._lines(writer))

    def show(self, writer: ScriptWriter, last: Step, difference: Difference) -> None:
        address = difference.address
        lines = self._lines(writer)
        if address is None:
            guarded(writer, lines, _ALL, difference.observed.error)
            return
        writer.say(*lines)
        copy = writer.ask("get_tuple", writer.at(address))
        if isinstance(difference.observed, Raised):
            guarded(writer, [copy], "the copy", difference.observed.error)
        elif difference.kind is not _COPY:
            compare(writer, copy, '"the copy"', "observed is None")
        else:
            source = _SOURCES[str(difference.detail)]
            for name, at in (("expected", (self.source, *address[1:])), ("observed", address)):
                writer.say(f"found = {writer.ask('get_tuple', writer.at(at))}")
                writer.say(f"{name} = {source}")
            complain(writer, "observed != expected")

    def _lines(self, writer: ScriptWriter) -> list[str]:
        """Return the statements that copy the thread."""
        writer.helpers |= {"config", "address"}
        listed = writer.listing(writer.config(self.source))
        versions = 'found.checkpoint["channel_versions"]'
        put = writer.change("put", "at", "found.checkpoint", "found.metadata", versions)
        lines = [
            f"listed = {listed}",
            'for found in sorted(listed, key=lambda found: found.checkpoint["id"]):',
            "    namespace, parent = address(found.config)[1], address(found.parent_config)[2]",
            f"    at = config({quoted(self.target)}, namespace, *filter(None, [parent]))",
            f"    at = {put}",
        ]
        if any(address[0] == self.source for address in writer.model.writes):
            lines += [
                "    for one in dict.fromkeys(task for task, *_ in found.pending_writes):",
                "        own = [(name, value) for task, name, value in found.pending_writes"
                " if task == one]",
                f"        {writer.change('put_writes', 'at', 'own', 'one')}",
            ]
        return lines


def _put_again(driver: ApiDriver, thread: str, namespace: str, item: Any) -> None:
    parent = part(field(item, "parent_config"), "checkpoint_id")
    config: dict[str, Any] = {"thread_id": thread, "checkpoint_ns": namespace}
    if parent is not None:
        config["checkpoint_id"] = parent
    versions = item.checkpoint.get("channel_versions", {})
    metadata = dict(item.metadata)
    if "thread_id" in metadata:
        metadata["thread_id"] = thread
    call = PutCall({"configurable": config}, item.checkpoint, metadata, versions)
    at = driver.put(call)
    tasks: defaultdict[str, list[tuple[str, Any]]] = defaultdict(list)
    for task, channel, value in field(item, "pending_writes") or ():
        tasks[task].append((channel, value))
    for task, writes in tasks.items():
        driver.put_writes(PutWritesCall(at, writes, task, ""))


def _read(context: Context, address: Address) -> Any:
    thread, namespace, number = address
    at = address_config(context.real(thread), namespace, number)
    return context.attempt(lambda: context.reader.get_tuple(at))


def _parts(item: Any) -> dict[str, Any] | None:
    """Return what a checkpoint and its copy have in common, part by part; None if it is no tuple of
    a checkpoint, its metadata and its writes.

    The writes of a task are in their order, and tasks in that of their ids: a copy has no paths.
    """
    shown, metadata = field(item, "checkpoint"), field(item, "metadata")
    writes = field(item, "pending_writes") or []
    if not (is_mapping(shown) and is_mapping(metadata) and isinstance(writes, list | tuple)):
        return None
    if not all(isinstance(write, tuple) and len(write) == _OF_A_WRITE for write in writes):
        return None
    return {
        "parent": part(field(item, "parent_config"), "checkpoint_id"),
        "checkpoint": dict(shown),
        "metadata": {key: value for key, value in metadata.items() if key != "thread_id"},
        "pending writes": sorted(writes, key=lambda write: str(write[0])),
    }


_SOURCES = {
    "parent": "address(found.parent_config)[2]",
    "checkpoint": "found.checkpoint",
    "metadata": 'found.metadata | {"thread_id": None}',
    "pending writes": "sorted(found.pending_writes, key=lambda write: write[0])",
}
"""The same parts of ``found``, as source."""
_COPIED: Program = (
    *(checkpoint(THREAD, 1), batch(THREAD, 1, 1, 2), checkpoint(THREAD, 2, 1)),
    replace(checkpoint(THREAD, 3, 2), changes=(("count", Value("integer", 3)),)),
    checkpoint(THREAD, 5, 1),
    *(batch(THREAD, 3, 1, 2), batch(THREAD, 3, 2, 1), batch(THREAD, 3, 0, 0, ("__resume__", 1))),
    *(checkpoint(THREAD, 4, namespace="child"), batch(THREAD, 4, 1, 1, namespace="child")),
    CopyByPutting(THREAD, NEW),
)
COPIES_BY_PUTTING: tuple[Program, ...] = (_COPIED, versions_by_server(*_COPIED))
"""A history with a fork, a subgraph and an answer, copied: with the saver's own versions, and with
those that the Agent Server makes.
"""
