"""The model: a store in plain Python that follows a program step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from saverproof.programs.model import metadata as metadata_rules
from saverproof.programs.model import planning
from saverproof.programs.model.contents import Contents
from saverproof.programs.model.records import (
    COPIED,
    PRUNED_TO,
    SPECIAL_INDEX,
    Address,
    PendingWrite,
    PlannedPut,
    Record,
    Version,
    WriteKey,
)
from saverproof.programs.steps import definitions as steps
from saverproof.programs.steps.expanding import puts_of
from saverproof.programs.steps.identifiers import mint

ROOT = ""
LEFT_ALONE = "left alone"


def next_number(current: Version | None) -> int:
    """Return the next version in the style of the simplest savers: the last one plus one."""
    return int(current or 0) + 1


class Model(Contents):
    """The checkpoints and pending writes that a right saver would hold.

    Its methods do what the saver's operations of the same name do. Callers must check
    :func:`saverproof.programs.legality.objection` first.
    """

    def apply(
        self, step: steps.Step, next_version: Callable[[Version | None], Version] = next_number
    ) -> PlannedPut | None:
        """Take a step of any kind; a step that writes nothing changes nothing.

        ``next_version`` makes the channel versions of a put. Return what was planned for a put,
        None for other steps. Checkpoints that a prune may keep or remove are kept.
        """
        match step:
            case steps.Put():
                planned = self.plan_put(step, next_version)
                self.put(step, planned)
                return planned
            case steps.PutHistory():
                for put in puts_of(step):
                    self.put(put, self.plan_put(put, next_version))
            case steps.PutWrites():
                self.put_writes(step)
            case steps.DeleteThread():
                self.delete_thread(step.thread)
            case steps.DeleteForRuns():
                self.delete_for_runs(step.runs)
            case steps.CopyThread():
                self.copy_thread(step.source, step.target)
            case steps.Prune():
                self.prune(step)
        return None

    def plan_put(
        self,
        step: steps.Put,
        next_version: Callable[[Version | None], Version],
        next_of_server: Callable[[Version | None, int], Version] = planning.server_version,
    ) -> PlannedPut:
        """Return what a put stores. One new version serves all channels that it changes.

        The step says whether the saver makes it (``next_version``) or the Agent Server.
        """
        return planning.plan_put(self, step, next_version, next_of_server)

    def put(self, step: steps.Put, planned: PlannedPut) -> Record:
        """Store a planned put; a checkpoint with the same id is replaced, its pending writes
        stay.
        """
        address = (step.thread, step.namespace, step.number)
        present = self.record(address)
        given = metadata_rules.given(step.metadata or {})
        record = Record(
            step,
            planned.channels,
            planned.seen,
            given,
            metadata_rules.merged(given, step.extras),
            metadata_rules.barred(given, step.extras),
        )
        if present is not None:
            record.puts = present.puts + 1
            record.before = present.before
            record.marks = present.marks
            # A removal may have cut the link to the parent; the same put need not restore it.
            record.parent_may_be_gone = (
                present.parent_may_be_gone and record.parent == present.parent
            )
            if planned.again:
                record.doubts = present.doubts
            else:
                earlier = present.metadata | present.merged | present.stale
                kept = record.metadata | record.merged
                record.stale = {key: v for key, v in earlier.items() if key not in kept}
        self.keep(address, record)
        record.before = self.gone.pop(address, record.before)
        self.unexpected.discard(address)
        return record

    def put_writes(self, step: steps.PutWrites) -> dict[WriteKey, PendingWrite]:
        """Store a batch. Regular writes keep their first value, special writes get the last one.

        Return the writes that were stored or replaced.
        """
        address = (step.thread, step.namespace, step.number)
        stored = self.writes.setdefault(address, {})
        changed: dict[WriteKey, PendingWrite] = {}
        mixed = any(channel not in SPECIAL_INDEX for channel, _ in step.writes)
        for position, (channel, value) in enumerate(step.writes):
            index = SPECIAL_INDEX.get(channel, position)
            key = (step.task, index)
            if index >= 0 and key in stored:
                continue
            earlier = stored.get(key)
            changed[key] = stored[key] = PendingWrite(
                step.task,
                index,
                channel,
                value,
                step.path,
                position,
                earlier=(*earlier.earlier, earlier.value) if earlier else (),
                mixed=mixed,
            )
        if not stored:
            del self.writes[address]
        return changed

    def delete_thread(self, thread: str, operation: str = "delete_thread") -> None:
        """Remove a thread with all its writes, those without a checkpoint included."""
        for namespace, records in self.threads.pop(thread, {}).items():
            for number in records:
                self.gone[(thread, namespace, number)] = operation
        for address in [a for a in self.writes if a[0] == thread]:
            del self.writes[address]
            self.gone.setdefault(address, operation)
        for address in [a for a in self.unexpected if a[0] == thread]:
            if self.gone.get(address) == LEFT_ALONE:
                self.unexpected.discard(address)
                self.gone[address] = operation
        self.doubted_values = {d for d in self.doubted_values if d[0] != thread}
        self.doubted_writes = {a for a in self.doubted_writes if a[0] != thread}
        self.open_writes = {a for a in self.open_writes if a[0] != thread}

    def delete_for_runs(self, runs: Sequence[str]) -> list[Address]:
        """Remove the checkpoints of these runs with their writes; return their addresses."""
        doomed = self.of_runs(runs)
        for address in doomed:
            self.remove(address, "delete_for_runs")
        return doomed

    def of_runs(self, runs: Sequence[str]) -> list[Address]:
        """Return the addresses of the checkpoints of these runs."""
        return [a for a in self.addresses() if self._run(a) in runs]

    def _run(self, address: Address) -> Any:
        record = self.record(address)
        assert record is not None
        return (record.merged | record.metadata).get("run_id")

    def remove(self, address: Address, operation: str) -> None:
        """Remove one checkpoint with its writes; its children may lose their parent."""
        thread, namespace, number = address
        records = self.threads[thread][namespace]
        del records[number]
        self.writes.pop(address, None)
        self.gone[address] = operation
        for child in self.children(address):
            records[child].parent_may_be_gone = True
        if not records:
            del self.threads[thread][namespace]
        if not self.threads[thread]:
            del self.threads[thread]

    def mark_missing(self, address: Address) -> None:
        """Remove a checkpoint that the saver has lost, and stop judging its address."""
        self.diverged = True
        self.remove(address, "lost")
        self.unexpected.add(address)
        self.doubted_writes.add(address)

    def leave_alone(self, address: Address) -> None:
        """Remove a checkpoint that the saver may keep or not, and stop judging its address."""
        self.remove(address, LEFT_ALONE)
        self.unexpected.add(address)
        self.open_writes.add(address)

    def adopt(self, address: Address) -> None:
        """Stop judging an address at which the saver shows an unexpected checkpoint."""
        self.diverged = True
        self.unexpected.add(address)

    def copy_thread(self, source: str, target: str) -> None:
        """Copy a thread's checkpoints and writes, those without a checkpoint included."""
        self.copies.add(frozenset((source, target)))
        for namespace, records in list(self.threads.get(source, {}).items()):
            for number, record in records.items():
                copied = replace(
                    record,
                    step=replace(record.step, thread=target),
                    channels={n: replace(c) for n, c in record.channels.items()},
                    looked_at=False,
                    doubts=set(record.doubts),
                    marks={COPIED},
                    before=self.gone.pop((target, namespace, number), None),
                    copy_of=source,
                )
                self.keep((target, namespace, number), copied)
                self.unexpected.discard((target, namespace, number))
        for address in [a for a in self.writes if a[0] == source]:
            self.writes[(target, *address[1:])] = {
                key: replace(w, marks={COPIED}, copy_of=w)
                for key, w in self.writes[address].items()
            }
        for address in [a for a in self.unexpected if a[0] == source]:
            self.unexpected.add((target, *address[1:]))
            if self.gone.get(address) == LEFT_ALONE:
                self.gone[(target, *address[1:])] = LEFT_ALONE
        self.doubted_writes |= {(target, *a[1:]) for a in self.doubted_writes if a[0] == source}
        self.open_writes |= {(target, *a[1:]) for a in self.open_writes if a[0] == source}
        self.doubted_values |= {(target, *d[1:]) for d in self.doubted_values if d[0] == source}

    def prune(self, step: steps.Prune) -> list[Address]:
        """Prune threads; return the checkpoints that may be kept or not, for the caller to
        decide.
        """
        if step.strategy == "delete":
            for thread in step.threads:
                self.delete_thread(thread, "prune")
            return []
        open_: list[Address] = []
        for thread in step.threads:
            open_ += self._prune_to_latest(thread)
        return open_

    def _prune_to_latest(self, thread: str) -> list[Address]:
        kept_root = self.latest(thread, ROOT)
        open_: list[Address] = []
        for namespace, records in self.threads.get(thread, {}).items():
            newest = max(records)
            optional = namespace != ROOT and not _started_from(records[newest], kept_root)
            open_ += [(thread, namespace, n) for n in records if n != newest or optional]
            if not optional:
                records[newest].parent_may_be_gone = True
                records[newest].marks.add(PRUNED_TO)
        for address in self.writes:
            if address[0] == thread and self.record(address) is None:
                self.open_writes.add(address)
        return open_


def _started_from(record: Record, root: int | None) -> bool:
    """Return whether this root checkpoint started a subgraph's checkpoint.

    Also return True if the subgraph's metadata does not say.
    """
    parents: Mapping[str, Any] = (record.step.metadata or {}).get("parents") or {}
    if ROOT not in parents:
        return True
    return root is not None and parents[ROOT] == mint(root)
