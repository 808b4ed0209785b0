"""The answer of a listing, and which checkpoint each of its tuples is."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from saverproof.judging import facts
from saverproof.judging.answers import field, part, shown_id
from saverproof.judging.context import Context
from saverproof.judging.facts import Difference, Raised
from saverproof.judging.looks import OwnAnswer
from saverproof.judging.store_check import known_numbers
from saverproof.programs.model.records import Address
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import ListTuples
from saverproof.programs.steps.identifiers import mint
from saverproof.savers.execution.calls import list_arguments
from saverproof.scripts.complaints import compare, unequal
from saverproof.scripts.writer import ScriptWriter


class Listing:
    """The answer of a listing: its tuples, each with the checkpoint that it stands for.

    A tuple is identified by its id. If several threads or namespaces hold that id, what it shows
    and its config decide.
    """

    def __init__(self, context: Context, step: ListTuples, answer: Any) -> None:
        self.error = answer if isinstance(answer, Raised) else None
        items = [] if self.error else list(answer)
        if context.prefix and step.thread is None:
            items = [i for i in items if _thread_of(i).startswith(context.prefix)]
        self.everything = _placed(context, step, items)
        """The addresses of all tuples, including those that judging leaves alone."""
        unexpected = context.model.unexpected
        self.items: list[tuple[Address, Any]] = [
            (address, item)
            for address, item in zip(self.everything, items, strict=True)
            if address not in unexpected
        ]

    @property
    def addresses(self) -> list[Address]:
        """The addresses in the order of the listing."""
        return [address for address, _ in self.items]


def _placed(context: Context, step: ListTuples, items: list[Any]) -> list[Address]:
    """Return the address that each tuple of a listing stands for."""
    model, numbers = context.model, _numbers(context)
    wanted: defaultdict[int, list[Address]] = defaultdict(list)
    for address in model.listing(step):
        wanted[address[2]].append(address)
    placed = [_address(context, numbers, item) for item in items]
    taken: set[Address] = set()
    # A checkpoint that is not judged may look like anything. It is taken for another one only if
    # that one should be listed and no other item stands for it.
    for left_alone in (False, True):
        for at, named in enumerate(placed):
            if (named in model.unexpected) is not left_alone:
                continue
            others = [a for a in wanted[named[2]] if a != named]
            if left_alone:
                others = [] if step.limit is not None else [a for a in others if a not in taken]
            if others:
                placed[at] = _likeliest(model, others, taken, items[at], named)
            taken.add(placed[at])
    return placed


def _thread_of(item: Any) -> str:
    return str(part(field(item, "config"), "thread_id"))


def _likeliest(
    model: Model, others: list[Address], taken: set[Address], item: Any, named: Address
) -> Address:
    """Return the address, among those with a tuple's id, that fits its content best.

    At a tie, it is the address that the tuple names.
    """
    shown = field(item, "checkpoint") or {}
    shown_parent = part(field(item, "parent_config"), "checkpoint_id")

    # Content outweighs what the item says of itself, which may be the very thing that is wrong:
    # any two of the three that agree decide. A place that another item has taken already needs
    # more than its name, and less than its content, to be taken again.
    def likeness(address: Address) -> float:
        record = model.record(address)
        if record is None:
            return -1.0
        versions = {name: channel.version for name, channel in record.channels.items()}
        parent = None if record.parent is None else mint(record.parent)
        return float(
            2.0 * (shown.get("channel_versions") == versions)
            + 2.0 * (shown_parent == parent)
            + 2.0 * (field(item, "metadata") == record.metadata)
            + 1.0 * (address == named)
            - 1.5 * (address in taken)
        )

    return max([named, *others], key=likeness)


def _numbers(context: Context) -> dict[str, int]:
    model = context.model
    places = [(t, ns) for t, namespaces in model.threads.items() for ns in namespaces]
    places += [(t, ns) for t, ns, _ in [*model.gone, *model.unexpected]]
    return {mint(number): number for number in known_numbers(context, places)}


def _address(context: Context, numbers: dict[str, int], item: Any) -> Address:
    config = field(item, "config")
    thread = _thread_of(item).removeprefix(context.prefix)
    shown = shown_id(item)
    number = numbers.get(shown, -1) if isinstance(shown, str) else -1
    return thread, str(part(config, "checkpoint_ns") or ""), number


def ask(context: Context, step: ListTuples) -> Listing:
    """List the checkpoints that a step asks for."""
    thread = None if step.thread is None else context.real(step.thread)
    config, arguments = list_arguments(step, thread)
    answer = context.attempt(lambda: context.reader.list_tuples(config, arguments))
    if context.watch_inputs:
        given, others = list_arguments(step, thread)
        for name in ("config", "filter", "before"):
            before, after = (
                {"config": c, **a}[name] for c, a in ((given, others), (config, arguments))
            )
            context.facts.compare(facts.INPUT, None, before, after, detail=name, look=_INPUT)
    return Listing(context, step, answer)


def _show_input(writer: ScriptWriter, step: ListTuples, difference: Difference) -> None:
    """Write a check that the listing left its arguments unchanged."""
    name = str(difference.detail)
    given, start = f"given_{name}", "" if name == "config" else f"{name}="
    arguments = writer.list_arguments(step)
    at = next(n for n, one in enumerate(arguments) if one.startswith(start))
    source = arguments[at].removeprefix(start)
    arguments[at] = f"{start}{given}"
    writer.say(f"{given} = {source}", writer.listing(*arguments))
    compare(writer, given, source, unequal(difference.expected, difference.observed))


_INPUT = OwnAnswer(_show_input)
