"""What is done with a graph, as data: the steps of a program.

Checkpoints are named by number, the oldest of the root namespace being 0. All values are JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

Json = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call of a graph on a thread."""

    thread: str = "a"


@dataclass(frozen=True, slots=True)
class Invoke(Step):
    """Run the graph on an input, or on from where it is (None); from checkpoint ``at`` if given."""

    given: Json = None
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Stream(Step):
    """Run the graph and take down its stream."""

    given: Json = None
    modes: tuple[str, ...] = ("updates",)
    subgraphs: bool = False


@dataclass(frozen=True, slots=True)
class Answer(Step):
    """Resume with an answer to the one question that is open, and with an update if given."""

    answer: Json
    update: Json = None
    at: int | None = None


@dataclass(frozen=True, slots=True)
class AnswerEach(Step):
    """Resume with answers to several open questions (question -> answer), by interrupt id."""

    answers: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Update(Step):
    """Change the state as if a node had, on top of checkpoint ``at`` if given."""

    values: Json
    as_node: str | None = None
    at: int | None = None


@dataclass(frozen=True, slots=True)
class UpdateInside(Step):
    """Change the state of the subgraph in which the graph is waiting."""

    values: Json
    as_node: str | None = None


@dataclass(frozen=True, slots=True)
class UpdateMany(Step):
    """Change the state in several supersteps of (values, node) each."""

    supersteps: tuple[tuple[tuple[Json, str], ...], ...]


@dataclass(frozen=True, slots=True)
class Copy(Step):
    """Fork by a copy of checkpoint ``at``."""

    at: int


@dataclass(frozen=True, slots=True)
class Look(Step):
    """Ask for the state at checkpoint ``at``."""

    at: int


@dataclass(frozen=True, slots=True)
class History(Step):
    """Ask for the history: so many, before a checkpoint, with a source ("input", "loop", …)."""

    limit: int | None = None
    before: int | None = None
    source: str | None = None


Program = tuple[Step, ...]

READING = (Look, History)
"""Steps that change nothing."""

KINDS: Mapping[str, type[Step]] = {
    kind.__name__: kind
    for kind in (
        Invoke,
        Stream,
        Answer,
        AnswerEach,
        Update,
        UpdateInside,
        UpdateMany,
        Copy,
        Look,
        History,
    )
}


def needs_history(program: Program) -> bool:
    """Whether a step asks for more than the newest checkpoint."""
    return any(
        isinstance(step, READING) or getattr(step, "at", None) is not None for step in program
    )


def to_json(program: Program) -> list[dict[str, Json]]:
    """A program as JSON: one object a step."""
    return [step_to_json(step) for step in program]


def step_to_json(step: Step) -> dict[str, Json]:
    """A step as a JSON object, without what is at its default."""
    usual = {field.name: field.default for field in fields(step) if field.default is not MISSING}
    given = {name: value for name, value in asdict(step).items() if value != usual.get(name, step)}
    return {"step": type(step).__name__, **given}


def from_json(data: Json) -> Program:
    """The program that :func:`to_json` gave.

    Raises:
        ValueError: a step is of no known kind, or has other fields.
    """
    return tuple(_step(number, dict(step)) for number, step in enumerate(data, 1))


def _step(number: int, data: dict[str, Json]) -> Step:
    name = data.pop("step", None)
    if name not in KINDS:
        raise ValueError(f"step {number}: found {name!r}, expected one of {', '.join(KINDS)}")
    if "modes" in data:
        data["modes"] = tuple(data["modes"])
    if "supersteps" in data:
        data["supersteps"] = tuple(
            tuple((values, node) for values, node in updates) for updates in data["supersteps"]
        )
    try:
        return KINDS[name](**data)
    except TypeError as error:
        raise ValueError(f"step {number}, {name}: {error}") from None
