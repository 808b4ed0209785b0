"""The scene of a value that cannot be serialized. Nothing of the refused call may be stored."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

from saverproof.contracts.contract import Contract
from saverproof.contracts.tables import serialization
from saverproof.judging import facts
from saverproof.judging.context import Context
from saverproof.judging.facts import Difference, Fact, Raised
from saverproof.judging.scenes.scene import Scene
from saverproof.judging.store_check import check_store
from saverproof.programs.makers.addresses import numbers_beside, some_address, unused
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import GetTuple, Program, Put, PutWrites, Step
from saverproof.programs.steps.describing import checkpoint, text
from saverproof.programs.theme import Theme
from saverproof.programs.values import Value
from saverproof.savers.execution.calls import put_call, put_writes_call
from saverproof.scripts.script import complaint
from saverproof.scripts.statements import put_arguments, put_writes_arguments
from saverproof.scripts.writer import ScriptWriter

_BAD = Value("unserializable", 0)
_TASK = 91
"""The number of a task that programs do not use."""
_GOOD = Value("integer", 9)
"""A good value that replaces the bad one, to see whether any value would be stored."""
_ACCEPTED = Fact("accepted", "it is accepted, and should be refused")


@dataclass(frozen=True, slots=True)
class RefuseValue(Scene):
    """A call with a value that cannot be serialized, in a put or in the middle of a batch."""

    operation: str
    thread: str
    namespace: str
    number: int
    parent: int | None = None
    position: int = 0

    about: ClassVar[Contract] = serialization.UNSERIALIZABLE_IS_REFUSED

    @staticmethod
    def make(model: Model, choose: Random, theme: Theme) -> RefuseValue | None:
        """Hand over a value that cannot be serialized."""
        address = some_address(model, choose, theme)
        if address is None:
            return None
        thread, namespace, number = address
        if choose.random() < 0.5:
            position = choose.randrange(5)
            return RefuseValue("put_writes", thread, namespace, number, position=position)
        fresh = unused(max(model.history(thread, namespace)) + 1, numbers_beside(model, namespace))
        return RefuseValue("put", thread, namespace, fresh, number)

    def objection(self, model: Model) -> str | None:
        history = model.history(self.thread, self.namespace)
        if self.operation != "put":
            return None if self.number in history else "there is no checkpoint to write on"
        if self.number in history:
            return "the refused checkpoint is a new one"
        if self.parent is not None and self.parent not in history:
            return "the parent was not put"
        return None

    def words(self) -> str:
        where = f"{text(self.thread)}, {text(self.namespace)}, {checkpoint(self.number)}"
        if self.operation == "put":
            parent = "" if self.parent is None else f", parent {self.parent}"
            return f"put({where}{parent}) with a value that cannot be serialized"
        return f"put_writes({where}), write {self.position % 5} cannot be serialized"

    def serializable(self) -> Program:
        """Return the same call with a value that can be serialized, and a look at what it
        stores.
        """
        call = self._put_of(_GOOD) if self.operation == "put" else self._batch_of(_GOOD)
        return call, GetTuple(self.thread, self.namespace, self.number)

    def is_accepted(self, difference: Difference) -> bool:
        """Return whether a difference is that the call did not raise."""
        return difference.kind is _ACCEPTED

    def is_lost(self, difference: Difference) -> bool:
        """Return whether a difference is that the value of :meth:`serializable` is not stored."""
        if difference.address != (self.thread, self.namespace, self.number):
            return False
        if self.operation == "put":
            lost = difference.kind in facts.VALUES.values() and difference.detail == "notes"
            return lost or difference.kind is facts.MISSING
        write = difference.write
        if write is None or difference.kind is not facts.WRITE_MISSING:
            return False
        return write.task == _TASK and write.position == self.position % 5

    def _put_of(self, value: Value) -> Put:
        changes = (("count", Value("integer", 1)), ("notes", value))
        return Put(self.thread, self.namespace, self.number, self.parent, changes=changes)

    def _batch_of(self, value: Value) -> PutWrites:
        good = [("count", Value("integer", n)) for n in range(4)]
        good.insert(self.position % 5, ("notes", value))
        return PutWrites(self.thread, self.namespace, self.number, _TASK, tuple(good))

    def play(self, context: Context) -> None:
        context.last_change = self
        address = (self.thread, self.namespace, self.number)
        answer = context.attempt(lambda: self._hand_over(context))
        if not isinstance(answer, Raised):
            log = context.facts.by(self)
            log.differ(_ACCEPTED, address, "an exception", "no exception")
            context.model.doubted_writes.add(address)
            if context.model.record(address) is None:
                context.model.unexpected.add(address)
            return
        known = len(context.facts.differences)
        if self.operation == "put":
            context.model.gone.setdefault(address, "refused")
        check_store(context)
        if len(context.facts.differences) == known:
            context.facts.agree(self.about)

    def _hand_over(self, context: Context) -> Any:
        thread = context.real(self.thread)
        if self.operation == "put":
            planned = context.model.plan_put(self._put_of(_BAD), context.next_version)
            return context.driver.put(put_call(self._put_of(_BAD), planned, thread))
        return context.driver.put_writes(put_writes_call(self._batch_of(_BAD), thread))

    def write(self, writer: ScriptWriter) -> None:
        call = self._call(writer)
        writer.say("with contextlib.suppress(Exception):", f"    {call}")

    def show(self, writer: ScriptWriter, last: Step, difference: Difference) -> None:
        call = self._call(writer)
        writer.say("try:", f"    {call}", "except Exception as refusal:")
        writer.say("    raise SystemExit(0) from refusal")
        writer.say(complaint("an exception", "no exception"))

    def _call(self, writer: ScriptWriter) -> str:
        if self.operation == "put":
            given = put_arguments(self._put_of(_BAD), writer.plan(self._put_of(_BAD)), writer)
            return writer.change("put", *given.values())
        given = put_writes_arguments(self._batch_of(_BAD), writer)
        return writer.change("put_writes", *given.values(), writer.task(_TASK))
