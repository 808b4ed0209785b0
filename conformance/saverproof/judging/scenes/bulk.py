"""The scene of very many writes, channels or checkpoints at once, which finds a saver's limits."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

from saverproof.contracts.contract import Contract
from saverproof.contracts.tables import channels, identity, pending_writes, serialization
from saverproof.judging import facts
from saverproof.judging.context import Context
from saverproof.judging.facts import Difference, Fact, Raised
from saverproof.judging.scenes.scene import Scene
from saverproof.process import heartbeat
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import Put, PutWrites, Step
from saverproof.programs.steps.describing import checkpoint, text
from saverproof.programs.theme import Theme
from saverproof.programs.values import Value, same
from saverproof.savers.execution.calls import (
    address_config,
    put_call,
    put_writes_call,
    read_config,
)
from saverproof.scripts.complaints import compare, guarded
from saverproof.scripts.writer import ScriptWriter

_COUNT = Fact("count", "not everything that was stored is there")
_LOST = Fact("lost", "later checkpoints are there, and the first is gone")
_WHOLE = {
    "writes": pending_writes.COMPLETE,
    "channels": serialization.CHANNEL_VALUES,
    "checkpoints": identity.LIST_SELECTS,
}
"""The contract that is broken if some of the writes, channels or checkpoints are missing."""


@dataclass(frozen=True, slots=True)
class Bulk(Scene):
    """Very many of something at once: ``writes``, ``channels`` or ``checkpoints``."""

    kind: str
    thread: str
    number: int
    count: int

    about: ClassVar[Contract] = serialization.LARGE

    def contract_of(self, fact: Fact) -> Contract:
        """Return the contract that is broken: a must if the call was accepted and not everything is
        stored, else one that is advice.
        """
        if fact == _LOST:
            return channels.HISTORY_IMMUTABLE
        return _WHOLE[self.kind] if fact == _COUNT else self.contract

    @staticmethod
    def make(model: Model, choose: Random, theme: Theme) -> Bulk | None:
        """Many writes, channels or checkpoints at once, into a thread that holds nothing."""
        del theme
        step = choose.choice(BULKS)
        return None if step.thread in model.threads else step

    def words(self) -> str:
        where = f"thread {text(self.thread)}, from {checkpoint(self.number)} on"
        return f"{self.count} {self.kind} in {where}"

    # --- on the saver ------------------------------------------------------------------------

    def play(self, context: Context) -> None:
        address = (self.thread, "", self.number)
        answer = context.attempt(lambda: self._stored(context))
        if isinstance(answer, Raised):
            expected = f"{self.count} {self.kind}"
            context.facts.by(self).differ(facts.RAISED, address, expected, answer)
        else:
            expected, observed = answer
            if expected == observed:
                context.facts.agree(self.contract)
            few = self.kind == "checkpoints" and 0 < observed < expected
            lost = few and self._lost_the_first(context)
            self.compare(context, _LOST if lost else _COUNT, address, expected, observed)

    def _stored(self, context: Context) -> tuple[Any, Any]:
        """Return how many channels, writes or checkpoints were put, and how many of them are
        shown.
        """
        thread, driver = context.real(self.thread), context.driver
        if self.kind == "checkpoints":
            return self.count, self._history(context, thread)
        names = [f"channel_{n}" for n in range(self.count if self.kind == "channels" else 0)]
        changes = (("total", 0), *((name, n) for n, name in enumerate(names)))
        put = Put(
            self.thread,
            "",
            self.number,
            changes=tuple((name, Value("integer", n)) for name, n in changes),
        )
        driver.put(put_call(put, context.model.plan_put(put, context.next_version), thread))
        config = read_config((self.thread, "", self.number), thread)
        if self.kind == "channels":
            return self.count + 1, len(driver.get_tuple(config).checkpoint["channel_values"])
        writes = tuple(("total", Value("integer", n)) for n in range(self.count))
        batch = PutWrites(self.thread, "", self.number, 1, writes)
        driver.put_writes(put_writes_call(batch, thread))
        shown = [write[2] for write in driver.get_tuple(config).pending_writes]
        # In any order: other programs judge the order, with few writes.
        right = same(sorted(range(self.count), key=repr), sorted(shown, key=repr))
        return self.count, len(shown) if right else f"{len(shown)} writes, not the ones given"

    def _history(self, context: Context, thread: str) -> int:
        """Put checkpoints one after another; return how many are listed."""
        driver, model = context.driver, Model()
        for number in range(self.number, self.number + self.count):
            before = number - 1 if number > self.number else None
            changes = (("total", Value("integer", number - self.number)),)
            put = Put(self.thread, "", number, before, changes=changes)
            # Each of the many calls may take long.
            heartbeat.beat(len(context.taken))
            planned = model.plan_put(put, context.next_version)
            driver.put(put_call(put, planned, thread))
            model.put(put, planned)
            if before is not None:
                model.remove((self.thread, "", before), "bulk")
        return len(driver.list_tuples(address_config(thread, None, None), {}))

    def _lost_the_first(self, context: Context) -> bool:
        """Return whether a read by its id does not find the first checkpoint."""
        config = read_config((self.thread, "", self.number), context.real(self.thread))
        return context.attempt(lambda: context.driver.get_tuple(config)) is None

    # --- in scripts --------------------------------------------------------------------------

    def write(self, writer: ScriptWriter) -> None:
        self._write(writer)

    def show(self, writer: ScriptWriter, last: Step, difference: Difference) -> None:
        known = writer.position
        observed, expected = self._write(writer)
        if isinstance(difference.observed, Raised):
            lines = [*writer.take_back(known), observed]
            guarded(writer, lines, str(difference.expected), difference.observed.error)
        else:
            compare(writer, observed, expected)

    def _write(self, writer: ScriptWriter) -> tuple[str, str]:
        """Write the calls. Return expressions for what is observed after them, and for what is
        expected.
        """
        writer.helpers.add("checkpoint")
        writer.id(self.number)
        start, at = writer.config(self.thread, ""), writer.config(self.thread, "", self.number)
        if self.kind == "checkpoints":
            self._write_history(writer, start)
            listed = writer.listing(writer.config(self.thread))
            return f"len({listed})", str(self.count)
        version = writer.mint()
        count = self.count if self.kind == "channels" else 0
        writer.say(
            f'channels = {{"total": 0}} | {{f"channel_{{n}}": n for n in range({count})}}',
            f"new = dict.fromkeys(channels, {version})",
            writer.change("put", start, f"checkpoint({self.number}, channels, new)", "{}", "new"),
        )
        found = writer.ask("get_tuple", at)
        if self.kind == "channels":
            writer.say(f"found = {found}")
            return 'len(found.checkpoint["channel_values"])', str(self.count + 1)
        writes = f'[("total", n) for n in range({self.count})]'
        writer.say(writer.ask("put_writes", at, writes, writer.task(1)), f"found = {found}")
        shown = "sorted(write[2] for write in found.pending_writes)"
        return shown, f"list(range({self.count}))"

    def _write_history(self, writer: ScriptWriter, start: str) -> None:
        first, last = self.number, self.number + self.count
        given = ("at", 'checkpoint(n, {"total": n}, new, **seen)', "{}", "new")
        at = f"{start[:-1]}, ID[n])"
        writer.say(
            f"ID.update({{n: str(uuid6()) for n in range({first}, {last})}})",
            f"at, seen = {start}, {{}}",
            f"for n in range({first}, {last}):",
            '    new = {"total": saver.get_next_version(seen.get("total"), None)}',
            f"    {writer.change('put', *given)}",
            f"    at, seen = {at}, new",
        )


BULKS = (
    Bulk("writes", "a", 1, 20_000),
    Bulk("channels", "a", 1, 1_000),
    Bulk("checkpoints", "a", 1, 5_000),
)
"""The scenes that are played, each on a new store, since some savers get slower the more they
hold.
"""
