"""Looks: the ways in which judging reads what a saver holds. A script reads in the same way.

A difference keeps the look that showed it, so that its script need not guess.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from saverproof.judging.context import Context
from saverproof.judging.facts import Difference, Raised
from saverproof.judging.fields import OWN_ADDRESS
from saverproof.programs.model.records import Address
from saverproof.programs.steps.definitions import GetTuple, ListTuples, Step
from saverproof.savers.execution.calls import Config, address_config, get_config, read_config
from saverproof.scripts import complaints
from saverproof.scripts.statements import NoScriptError, read, write, write_steps
from saverproof.scripts.writer import ScriptWriter


class Read(ABC):
    """A look that gives one checkpoint tuple, or None."""

    __slots__ = ()

    @abstractmethod
    def found(self, writer: ScriptWriter, difference: Difference) -> str:
        """Return an expression for what the look gives; write the lines that it needs first."""

    def show(self, writer: ScriptWriter, last: Step, difference: Difference) -> None:
        """Write the last step, the look, and the complaint about what it gives."""
        if not _only_reads(last):
            write_steps(writer, (last,))
        self._show(writer, difference)

    def _show(self, writer: ScriptWriter, difference: Difference) -> None:
        observed = difference.observed
        if isinstance(observed, Raised):
            expected = "an answer" if difference.expected is None else str(difference.expected)
            known = writer.position
            found = self.found(writer, difference)
            lines = [*writer.take_back(known), found]
            complaints.guarded(writer, lines, expected, observed.error)
        elif difference.part is None:
            raise NoScriptError(f"nothing to compare for {difference.fact!r}")
        else:
            difference.part.show(writer, self.found(writer, difference), difference)


def _only_reads(step: Step) -> bool:
    """Return whether a step changes nothing, so that a script can leave it out."""
    plain_read = isinstance(step, GetTuple) and not step.mutate_result
    return plain_read or isinstance(step, ListTuples)


class OneRead(Read):
    """A look that makes one call of ``get_tuple``."""

    __slots__ = ()

    @abstractmethod
    def config(self, context: Context) -> Config:
        """Return the config that the saver is given."""

    def ask(self, context: Context) -> Any:
        """Return the saver's answer, or a :class:`Raised` if it raises."""
        config = self.config(context)
        return context.attempt(lambda: context.reader.get_tuple(config))


@dataclass(slots=True)
class ById(OneRead):
    """A read of one checkpoint by its id."""

    address: Address

    def config(self, context: Context) -> Config:
        return read_config(self.address, context.real(self.address[0]))

    def found(self, writer: ScriptWriter, difference: Difference) -> str:
        return writer.ask("get_tuple", writer.at(self.address))


@dataclass(slots=True)
class Latest(OneRead):
    """A read of a namespace without an id, which gives its newest checkpoint."""

    thread: str
    namespace: str

    def config(self, context: Context) -> Config:
        return address_config(context.real(self.thread), self.namespace, None)

    def found(self, writer: ScriptWriter, difference: Difference) -> str:
        return writer.ask("get_tuple", writer.config(self.thread, self.namespace))


@dataclass(slots=True)
class Asked(OneRead):
    """A read that a step of the program makes."""

    step: GetTuple

    def config(self, context: Context) -> Config:
        return get_config(self.step, context.real(self.step.thread))

    def found(self, writer: ScriptWriter, difference: Difference) -> str:
        return read(self.step, writer)

    def show(self, writer: ScriptWriter, last: Step, difference: Difference) -> None:
        """Write the look, which is the last step itself, and the complaint."""
        self._show(writer, difference)


@dataclass(slots=True)
class InListing(Read):
    """One tuple of a listing. If several stand for the same checkpoint, it is the last of them."""

    step: ListTuples
    address: Address

    def found(self, writer: ScriptWriter, difference: Difference) -> str:
        writer.say(f"listed = {writer.listing(*writer.list_arguments(self.step))}")
        is_it = f'item.checkpoint["id"] == {writer.id(self.address[2])}'
        if difference.part is not OWN_ADDRESS and not writer.ids_are_unique:
            is_it = f"address(item.config) == {complaints.address_source(writer, self.address)}"
        return f"next((item for item in reversed(listed) if {is_it}), None)"


@dataclass(slots=True)
class WholeListing:
    """A look at a whole listing, which raises. With ``nones``, arguments without a value are given
    as None.
    """

    step: ListTuples
    nones: bool = False

    def show(self, writer: ScriptWriter, last: Step, difference: Difference) -> None:
        """Write the last step, and a check that the listing does not raise."""
        if not _only_reads(last):
            write_steps(writer, (last,))
        arguments = writer.list_arguments(self.step, nones=self.nones)
        error = getattr(difference.observed, "error", None)
        complaints.guarded(writer, [writer.listing(*arguments)], str(difference.expected), error)


class Itself:
    """The look at a difference that the last step itself shows, by raising."""

    __slots__ = ()

    def show(self, writer: ScriptWriter, last: Step, difference: Difference) -> None:
        """Write a check that the last step does not raise."""
        observed = difference.observed
        if not isinstance(observed, Raised):
            name = type(last).__name__
            raise NoScriptError(f"no check of {difference.fact!r} in {name}")
        expected = str(difference.expected)
        opened, known = len(writer.blocks), writer.position
        write(last, writer)
        if len(writer.blocks) > opened:
            # The step closes the saver and opens it again: nothing may raise from here on.
            writer.blocks[opened - 1].insert(known, "begun = True")
            writer.guard = complaints.in_format(expected)
        else:
            complaints.guarded(writer, writer.take_back(known), expected, observed.error)


ITSELF = Itself()


@dataclass(slots=True)
class OwnAnswer:
    """A look that is the answer of the last step itself; ``write`` writes the step and the
    comparison.
    """

    write: Callable[[ScriptWriter, Any, Difference], None]

    def show(self, writer: ScriptWriter, last: Step, difference: Difference) -> None:
        """Write the last step and a comparison of its answer."""
        self.write(writer, last, difference)
