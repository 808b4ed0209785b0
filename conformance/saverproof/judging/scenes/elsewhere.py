"""The scene of a second workspace: neither workspace may show what the other holds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, ClassVar

from saverproof.contracts.contract import Contract
from saverproof.contracts.tables import isolation
from saverproof.judging import facts
from saverproof.judging.answers import field, shown_id
from saverproof.judging.context import Context
from saverproof.judging.facts import Cause, Difference, Fact, Raised
from saverproof.judging.scenes.scene import Scene
from saverproof.judging.store_check import check_store
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import GetTuple, Put, Step
from saverproof.programs.steps.describing import checkpoint, text
from saverproof.programs.theme import Theme
from saverproof.programs.values import Value
from saverproof.savers.execution.settled_calls import Calls
from saverproof.savers.execution.store import Store
from saverproof.savers.execution.versions import versions_of
from saverproof.scripts.complaints import complain, guarded
from saverproof.scripts.writer import ScriptWriter

_CHANGES = (("notes", Value("integer", -1)),)
_SEEN = Fact("seen", "what is stored elsewhere is seen")
_PUT = Fact("put", "storing it changes what is stored elsewhere")


@dataclass(frozen=True, slots=True)
class Elsewhere(Scene):
    """The saver on a second workspace: a checkpoint is put there, and what it shows is judged."""

    thread: str
    number: int

    about: ClassVar[Contract] = isolation.WORKSPACES

    @staticmethod
    def make(model: Model, choose: Random, theme: Theme) -> Elsewhere:
        """Put into another workspace."""
        return Elsewhere(choose.choice(theme.threads), choose.randint(1, 5))

    def words(self) -> str:
        return f"in a second workspace: put({text(self.thread)}, '', {checkpoint(self.number)})"

    def play(self, context: Context) -> None:
        context.last_change = self
        context.elsewhere.add((self.thread, self.number))
        answer = context.attempt(lambda: self._visit(context))
        if isinstance(answer, Raised):
            context.facts.differ(facts.RAISED, None, "a second workspace", answer)
            return
        seen_there, put_there = answer
        address = (self.thread, "", self.number)
        self.compare(context, _SEEN, address, [], seen_there)
        if put_there is None:
            context.facts.by(self).differ(facts.MISSING, address, "the checkpoint", None)
        else:
            self.compare(context, _PUT, address, {"notes": -1}, put_there)
        check_store(context)

    def plain(self) -> Step:
        """Return the same put into the workspace at hand."""
        return Put(self.thread, "", self.number, changes=_CHANGES)

    def _visit(self, context: Context) -> tuple[list[Any], Any]:
        """Return what a second workspace shows of the first, and of what was put into it."""
        own, log = context.store, context.facts.by(self)
        # Both workspaces use the same ids, so that a store shared by them would show it.
        with Store(own.target, own.folder, own.loop, own.apis[:1], own.ids) as other:
            driver = other.drivers[0]
            shown = [] if own.ids else context.attempt(lambda: list(driver.list_tuples(None, {})))
            if isinstance(shown, Raised):
                cause = Cause.EMPTY_THREAD
                context.facts.differ(facts.RAISED, None, "an empty listing", shown, cause=cause)
                shown = []
            calls = Calls(versions_of(other.saver))
            for address in context.model.addresses():
                read = GetTuple(context.real(address[0]), *address[1:])
                found = context.attempt(partial(calls.make, driver, read))
                if isinstance(found, Raised):
                    cause = Cause.ANY_UNKNOWN
                    log.differ(facts.UNKNOWN_RAISES, address, None, found, cause=cause)
                shown.append(found)
            seen = [field(item, "config") for item in shown if shown_id(item) is not None]
            calls.make(driver, Put(self.thread, "", self.number, changes=_CHANGES))
            there = calls.make(driver, GetTuple(self.thread, "", self.number))
            checkpoint = field(there, "checkpoint")
            values = checkpoint.get("channel_values") if isinstance(checkpoint, dict) else None
            return seen, values

    def write(self, writer: ScriptWriter) -> None:
        self._write(writer)

    def show(self, writer: ScriptWriter, last: Step, difference: Difference) -> None:
        if isinstance(difference.observed, Raised):
            known = writer.position
            self._write(writer, seen=True)
            guarded(writer, writer.take_back(known), "None", difference.observed.error)
            return
        seen = difference.kind is _SEEN
        self._write(writer, seen=seen, put=not seen)
        expected, wrong = ("[]", "observed") if seen else ('"its own"', "observed is None")
        writer.say(f"expected = {expected}")
        complain(writer, wrong)

    def _write(self, writer: ScriptWriter, *, seen: bool = False, put: bool = False) -> None:
        """Write the visit. ``observed`` is then what was seen there, or what was put there."""
        writer.helpers |= {"opened", "checkpoint"}
        new = writer.mint(channel="notes").partition("[")[0]
        writer.id(self.number)
        made = f'checkpoint({self.number}, {{"notes": -1}}, {new})'
        listed = writer.listing_of("other", "None", item="found.config")
        asked = [
            writer.ask_of("other", "get_tuple", writer.at(address))
            for address in writer.model.addresses()
            if seen
        ]
        start, at = writer.config(self.thread, ""), writer.config(self.thread, "", self.number)
        inner = [
            f"{'observed = ' if seen else ''}{listed}",
            *(f"observed += filter(None, [{look}])" for look in asked),
            writer.ask_of("other", "put", start, made, "{}", new),
            f"{'observed = ' if put else ''}{writer.ask_of('other', 'get_tuple', at)}",
        ]
        header = ["with tempfile.TemporaryDirectory() as second, opened(second) as other:"]
        if writer.calls.managed:
            header = [
                "with tempfile.TemporaryDirectory() as second:",
                "    async with opened(second) as other:",
            ]
        writer.say(*header, *("    " * len(header) + line for line in inner))
