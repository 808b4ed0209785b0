"""The steps of programs on a graph, as data.

Checkpoints are named by number; the oldest one of the root namespace is 0. All values are JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from saverproof.programs.steps.codec import ProgramCodec

Json = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphStep:
    """One call of a graph on a thread."""

    thread: str = "a"


@dataclass(frozen=True, slots=True)
class Invoke(GraphStep):
    """Run the graph on an input, or let it go on (None), from checkpoint ``at`` if one is given."""

    given: Json = None
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Stream(GraphStep):
    """Run the graph and record its stream."""

    given: Json = None
    modes: tuple[str, ...] = ("updates",)
    subgraphs: bool = False


@dataclass(frozen=True, slots=True)
class Answer(GraphStep):
    """Resume with an answer to the one open question, and with an update if one is given."""

    answer: Json
    update: Json = None
    at: int | None = None


@dataclass(frozen=True, slots=True)
class AnswerEach(GraphStep):
    """Resume with answers to several open questions (question -> answer), by interrupt id."""

    answers: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Update(GraphStep):
    """Change the state as if a node had done so, on top of checkpoint ``at`` if one is given."""

    values: Json
    as_node: str | None = None
    at: int | None = None


@dataclass(frozen=True, slots=True)
class UpdateInside(GraphStep):
    """Change the state of the subgraph in which the graph is waiting."""

    values: Json
    as_node: str | None = None


@dataclass(frozen=True, slots=True)
class UpdateMany(GraphStep):
    """Change the state in several supersteps, each a list of (values, node)."""

    supersteps: tuple[tuple[tuple[Json, str], ...], ...]


@dataclass(frozen=True, slots=True)
class Copy(GraphStep):
    """Fork the thread by a copy of checkpoint ``at``."""

    at: int


@dataclass(frozen=True, slots=True)
class Look(GraphStep):
    """Ask for the state at checkpoint ``at``."""

    at: int


@dataclass(frozen=True, slots=True)
class History(GraphStep):
    """Ask for the history: at most ``limit`` entries, before a checkpoint, with a source ("input",
    …).
    """

    limit: int | None = None
    before: int | None = None
    source: str | None = None


Program = tuple[GraphStep, ...]

READING = (Look, History)
"""Steps that change nothing."""

KINDS: Mapping[str, type[GraphStep]] = {
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
    """Return whether a step asks for more than the newest checkpoint."""
    return any(
        isinstance(step, READING) or getattr(step, "at", None) is not None for step in program
    )


CODEC = ProgramCodec(KINDS)
to_json, from_json = CODEC.to_json, CODEC.from_json
