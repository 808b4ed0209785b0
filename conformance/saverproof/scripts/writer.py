"""Write a program step by step: the lines of the script, and the model that follows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from saverproof.programs.model.planning import versions_taken
from saverproof.programs.model.records import (
    PRUNED_AS_OLDER,
    Address,
    PendingWrite,
    PlannedPut,
    Version,
)
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import PLAIN, Extras, IdForm, ListTuples, Prune, Put
from saverproof.programs.steps.identifiers import EXIT_TASK, task_id, timestamp
from saverproof.programs.values import Value
from saverproof.savers.execution.calls import PENDING_SEND
from saverproof.scripts.call_source import CallSource
from saverproof.scripts.own_source import OwnSource
from saverproof.scripts.saver_methods import SaverMethods
from saverproof.scripts.source import (
    dict_source,
    highest,
    keyword_arguments,
    literal,
    nested,
    quoted,
    symbols,
    versions_source,
)

SECOND = "second_saver"
"""The variable of a second saver on the store."""
_ADDRESS = ("thread_id", "checkpoint_ns", "checkpoint_id")


class ScriptWriter:
    """The script so far. ``blocks`` are the lines for each time that the saver is open.

    With ``reads_between`` everything is read after each step, as when a program is judged. With
    ``drops_older`` the older checkpoints of a pruned thread, which a saver may keep, are gone.
    """

    def __init__(
        self,
        calls: CallSource,
        methods: SaverMethods,
        *,
        reads_between: bool = False,
        drops_older: bool = False,
    ) -> None:
        self.calls = calls
        self.methods = methods
        self.reads_between = reads_between
        self.drops_older = drops_older
        self.model = Model()
        self.blocks: list[list[str]] = [[]]
        self.after: list[str] | None = None
        """Lines after the saver was closed for good; None while it is open."""
        self.ids: set[int] = set()
        self.tasks: set[int] = set()
        self.imports: set[str] = set()
        self.helpers: set[str] = set()
        self.own: dict[str, OwnSource] = {}
        """The author's own functions that the script calls."""
        self.receiver = "saver"
        self.guard = ""
        """The expected answer, if the script may raise nothing once it says ``begun``; else ""."""
        self.patience_s = 0.0
        """Seconds within which the script's coroutine must end, once it says that the call is
        made; 0 for no limit.
        """
        self.alone = False
        """True if the script may only be tried in a process of its own, in which threads are there
        for it alone.
        """
        self._minted = 0
        self._turn = 0

    def say(self, *lines: str) -> None:
        """Add lines to the block with the open saver, or to what follows once it was closed."""
        block = self.blocks[-1] if self.after is None else self.after
        block += lines

    def pruned(self, step: Prune) -> None:
        """Let the model follow a prune."""
        for address in self.model.prune(step):
            if self.drops_older and address[2] != self.model.latest(*address[:2]):
                self.model.remove(address, PRUNED_AS_OLDER)

    @property
    def position(self) -> int:
        """The place of the next line, for :meth:`take_back`."""
        return len(self.blocks[-1])

    def take_back(self, position: int) -> list[str]:
        """Remove the lines that were added since ``position``, and return them."""
        lines = self.blocks[-1][position:]
        del self.blocks[-1][position:]
        return lines

    def reopen(self) -> None:
        """Close the saver here, and open it again."""
        self.blocks.append([])
        self.receiver = "saver"

    def turn_to(self, number: int) -> None:
        """Go on with the first or the second of two savers on the store."""
        if number == 1:
            self.receiver = "saver"
        else:
            self.helpers.add("opened")
            self.receiver = SECOND

    def close(self) -> None:
        """Close the saver for good. Lines that are added from now on follow that."""
        self.after = []

    # --- expressions -----------------------------------------------------------------------

    def id(self, number: int) -> str:
        """Return the id of a checkpoint, as source."""
        self.ids.add(number)
        return f"ID[{number}]"

    def task(self, number: int) -> str:
        """Return the id of a task, as source."""
        if number == 0 or number >= EXIT_TASK:
            return quoted(task_id(number))
        self.tasks.add(number)
        return f"TASK[{number}]"

    @property
    def ids_are_unique(self) -> bool:
        """True if an id alone says which checkpoint is meant."""
        numbers = [number for *_, number in (*self.model.addresses(), *self.model.gone)]
        return len(set(numbers)) == len(numbers)

    @staticmethod
    def place(address: Address) -> str:
        """Return thread and namespace, as source."""
        return f"({quoted(address[0])}, {quoted(address[1])})"

    def value(self, value: Value) -> str:
        """Return a value of the catalogue, as source."""
        self.imports |= value.imports()
        return value.source()

    def config(
        self,
        thread: str | None,
        namespace: str | None = None,
        number: int | None = None,
        id_form: IdForm = IdForm.ABSENT,
        extras: Extras = PLAIN,
    ) -> str:
        """Return a config with an address, like that of
        :func:`saverproof.savers.execution.calls.address_config`.
        """
        self.helpers.add("config")
        items: dict[str, str] = {} if thread is None else {"thread_id": quoted(thread)}
        if namespace is not None:
            items["checkpoint_ns"] = quoted(namespace)
        if number is not None:
            items["checkpoint_id"] = self.id(number)
        elif id_form is not IdForm.ABSENT:
            items["checkpoint_id"] = "None" if id_form is IdForm.NONE else '""'
        # The script's helper takes the parts of an address in this order.
        in_order = tuple(items) == _ADDRESS[: len(items)]
        given = list(items.values()) if in_order else keyword_arguments(items)
        more = {key: literal(value) for key, value in (extras.configurable or {}).items()}
        given += keyword_arguments(more)
        if extras.loop:
            given.append("**LOOP")
            self.helpers.add("loop")
            self.id(1)
            self.task(1)
        outer = _outer(extras)
        return f"config({', '.join(given)})" + (f" | {literal(outer)}" if outer else "")

    def at(self, address: Address) -> str:
        """Return the config of one checkpoint."""
        return self.config(*address)

    def list_arguments(self, step: ListTuples, *, nones: bool = False) -> list[str]:
        """Return the arguments of a listing, with those that are None if ``nones``."""
        arguments = ["None"]
        if step.thread is not None:
            arguments = [
                self.config(step.thread, step.namespace, step.number, step.id_form, step.extras)
            ]
        before = None
        if step.before is not None:
            root = None if step.thread is None else step.namespace or ""
            before = self.config(step.thread, root, step.before)
        filter_ = None if step.filter is None else literal(step.filter)
        for name, given in (("filter", filter_), ("before", before), ("limit", step.limit)):
            if given is not None or nones:
                arguments.append(f"{name}={given}")
        return arguments

    def checkpoint(self, step: Put, planned: PlannedPut) -> str:
        """Return a checkpoint: a call of the script's own helper, and what else the checkpoint
        has.
        """
        self.helpers.add("checkpoint")
        self.id(step.number)
        values = {
            name: self.value(channel.value)
            for name, channel in planned.channels.items()
            if channel.value is not None and not (channel.optional and step.omit_unchanged)
        }
        versions = {name: str(channel.version) for name, channel in planned.channels.items()}
        new = symbols(planned.new_versions)
        old = symbols(planned.seen.get(step.node, {}))
        other: dict[str, str] = {} if step.format is None else {"v": str(step.format)}
        if step.clock is not None:
            other["ts"] = quoted(timestamp(step.clock))
        usual = planned.seen.keys() == {"__input__", "agent"}
        if not usual or {**old, **new} != versions:
            old = {name: version for name, version in versions.items() if name not in new}
            other["versions_seen"] = nested(planned.seen)
        if step.fields in ("unknown", "pending-sends"):
            other["updated_channels"] = "None"
        if step.fields == "pending-sends":
            other["pending_sends"] = f"[{self.value(PENDING_SEND)}]"
        given = [dict_source(values), versions_source(new)]
        given += (
            [f"**{name}"] if (name := versions_source(old))[0] != "{" else keyword_arguments(old)
        )
        made = f"checkpoint({step.number}, {', '.join(given)})"
        return f"{made} | {dict_source(other)}" if other else made

    def metadata(self, step: Put) -> str:
        """Return the metadata of a put."""
        items = {key: literal(item) for key, item in (step.metadata or {}).items()}
        if step.legacy_writes is not None:
            items["writes"] = dict_source({step.node: self.value(step.legacy_writes)})
        return dict_source(items)

    def write(self, write: PendingWrite) -> str:
        """Return a pending write in the form that a tuple has it."""
        value = self.value(write.value)
        if isinstance(write.value.make(), BaseException):
            value = f"repr({value})"
        return f"({self.task(write.task)}, {quoted(write.channel)}, {value})"

    # --- calls -----------------------------------------------------------------------------

    def change(self, operation: str, *arguments: str) -> str:
        """Return a call that writes. Crossed scripts use the APIs in turns."""
        self._turn += 1
        return self.calls.call(self.calls.on_turn(self._turn), self.receiver, operation, *arguments)

    @property
    def next_api(self) -> str:
        """The API of the next call that writes."""
        return self.calls.on_turn(self._turn + 1)

    def skip_turns(self, number: int) -> None:
        """Count further calls that write, which one statement makes in a loop."""
        self._turn += number

    def ask(self, operation: str, *arguments: str) -> str:
        """Return a call that reads. A crossed script reads by the API that did not write last."""
        return self.ask_of(self.receiver, operation, *arguments)

    def ask_of(self, receiver: str, operation: str, *arguments: str) -> str:
        """Return a call that reads from ``receiver`` instead of the saver."""
        return self.calls.call(self._reading(), receiver, operation, *arguments)

    def _reading(self) -> str:
        return self.calls.beside(self.calls.on_turn(self._turn))

    def listing(self, *arguments: str, item: str = "found") -> str:
        """Return the list of a listing's items; ``item`` is the expression for one, called
        ``found``.
        """
        return self.listing_of(self.receiver, *arguments, item=item)

    def listing_of(self, receiver: str, *arguments: str, item: str = "found") -> str:
        """Return the list of a listing's items from ``receiver`` instead of the saver."""
        return self.calls.listing(self._reading(), receiver, *arguments, item=item)

    def api_call(self, api: str, operation: str, *arguments: str) -> str:
        """Return a call through this API."""
        return self.calls.call(api, self.receiver, operation, *arguments)

    def api_listing(self, api: str, *arguments: str, item: str = "found") -> str:
        """Return the list of a listing's items through this API."""
        return self.calls.listing(api, self.receiver, *arguments, item=item)

    def first_listed(self, *arguments: str) -> list[str]:
        """Return statements that leave a listing after its first item."""
        api = self._reading()
        if api == "sync":
            self.helpers.add("left_first")
        return self.calls.first(api, self.receiver, *arguments)

    def call_own(self, contract: str, arguments: Mapping[str, Any]) -> str:
        """Return a call of an author's own rule or invariant.

        Raises:
            KeyError: its source cannot be read.
        """
        source = self.own[contract] = self.methods.own[contract]
        self.imports |= source.imports
        subject = f"SimpleNamespace(saver={self.receiver})"
        if any("self.model" in line for line in source.lines):
            # A script has no model, but a rule may tell it whatever it has changed.
            self.imports |= {"from unittest.mock import MagicMock"}
            subject = f"SimpleNamespace(saver={self.receiver}, model=MagicMock())"
        given = [subject, *(f"{name}={literal(value)}" for name, value in arguments.items())]
        if self.calls.in_coroutine:
            return f"await asyncio.to_thread({', '.join((source.name, *given))})"
        return f"{source.name}({', '.join(given)})"

    def mint(self, older: Iterable[str] = (), channel: str = "") -> str:
        """Write a call for a new version above the older ones, and return the version's name.

        With a channel, it is an item of a dict such as ``put`` takes for its new versions.
        """
        return self._version(f"saver.get_next_version({highest(older)}, None)", channel)

    def _version(self, call: str, channel: str) -> str:
        self._minted += 1
        if not channel:
            self.say(f"v{self._minted} = {call}")
            return f"v{self._minted}"
        self.say(f"new{self._minted} = {dict_source({channel: call})}")
        return f"new{self._minted}[{quoted(channel)}]"

    def plan(self, step: Put) -> PlannedPut:
        """Plan a put, in which versions are names in the script."""
        older = [str(version) for version in versions_taken(self.model, step)]
        channel = step.changes[0][0] if len(step.changes) == 1 else ""

        def by_server(_: Version | None, number: int) -> str:
            self.helpers.add("server_version")
            return self._version(f"server_version({highest(older)}, {number})", channel)

        return self.model.plan_put(step, lambda _: self.mint(older, channel), by_server)


def _outer(extras: Extras) -> dict[str, Any]:
    outer: dict[str, Any] = {}
    if extras.metadata:
        outer["metadata"] = dict(extras.metadata)
    if extras.loop:
        outer.setdefault("metadata", {})["langgraph_node"] = "agent"
        outer |= {"tags": ["graph:step:1"], "callbacks": None, "recursion_limit": 25}
    return outer
