"""Random programs on the graphs, for longer runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from saverproof.capability import Capability
from saverproof.families.graph import steps
from saverproof.families.graph.installed import DELTA
from saverproof.families.graph.scenarios import SAME, GraphScenario

_LONGEST = 8
"""The most steps of a random program: each runs a graph, and shrinking repeats it often."""
_CHECKPOINTS = 6
"""How many checkpoints the steps may go back to: after a few runs, there are mostly that many."""


@dataclass(frozen=True, slots=True)
class _Play:
    """The inputs and steps that suit a graph.

    ``inputs`` start it, ``updates`` are (node, values) pairs, ``questions`` are those that it asks,
    and ``wants`` is what LangGraph must support.
    """

    inputs: tuple[steps.Json, ...]
    updates: tuple[tuple[str, steps.Json], ...]
    questions: tuple[str, ...] = ()
    wants: frozenset[str] = frozenset()


_LOGS: tuple[steps.Json, ...] = ({"log": ["in"]}, {"log": []}, {"log": ["x", "y"]})
_PLAYS: Mapping[str, _Play] = {
    "sequence": _Play(_LOGS, (("first", {"log": ["u"]}), ("second", {"count": 3}))),
    "branches": _Play(
        _LOGS, (("left", {"left": 3}), ("far_right", {"right": 4}), ("join", _LOGS[0]))
    ),
    "commanded": _Play(_LOGS, (("choose", _LOGS[0]), ("last", {"log": ["u"]}))),
    "asking": _Play(_LOGS, (("before", {"log": ["u"]}), ("ask", {"tone": "sad"})), ("who?",)),
    "asking_on": _Play(_LOGS, (("ask", {"log": ["u"]}),), ("?",)),
    "asking_abreast": _Play(
        _LOGS, (("left", _LOGS[0]), ("work", {"log": ["u"]})), ("left?", "right?")
    ),
    "nested": _Play(_LOGS, (("inner", _LOGS[0]), ("last", {"log": ["u"]}))),
    "nested_asking": _Play(_LOGS, (("inner", _LOGS[0]), ("last", {"log": ["u"]})), ("who?",)),
    "nested_deep": _Play(_LOGS, (("inner", {"log": ["u"]}),), ("deep?", "middle?")),
    "remembering": _Play(
        ({"turn": "one"}, {"turn": "two"}), (("recall", {"heard": ["u"]}), ("last", {"turn": "u"}))
    ),
    "delta": _Play(
        _LOGS, (("first", {"log": ["u"]}), ("ask", {"count": 1})), ("who?",), frozenset({DELTA})
    ),
}


def drawn(choose: Random, name: str, *, deep: bool) -> GraphScenario:
    """Return a random program on a random graph.

    Without ``deep`` the program needs no older checkpoints.
    """
    graph = choose.choice(sorted(_PLAYS))
    play = _PLAYS[graph]
    moves = [_input, _input, _on, _update]
    if play.questions:
        moves += [_answer, _answer, _answer]
    if len(play.questions) > 1:
        moves.append(_answer_each)
    if deep:
        moves += [_back, _update_back, _copy]
    program: list[steps.GraphStep] = [_input(choose, play)]
    while len(program) < choose.randint(3, _LONGEST):
        program.append(choose.choice(moves)(choose, play))
    needs = {Capability.EARLY_WRITES}
    if steps.needs_history(tuple(program)) or DELTA in play.wants:
        needs.add(Capability.HISTORY)
    return GraphScenario(name, SAME, graph, tuple(program), frozenset(needs), wants=play.wants)


def _thread(choose: Random) -> str:
    return "b" if choose.random() < 0.15 else "a"


def _input(choose: Random, play: _Play) -> steps.GraphStep:
    return steps.Invoke(choose.choice(play.inputs), thread=_thread(choose))


def _on(choose: Random, play: _Play) -> steps.GraphStep:
    return steps.Invoke(None, thread=_thread(choose))


def _back(choose: Random, play: _Play) -> steps.GraphStep:
    return steps.Invoke(None, at=choose.randrange(_CHECKPOINTS), thread=_thread(choose))


def _update(choose: Random, play: _Play) -> steps.GraphStep:
    node, values = choose.choice(play.updates)
    return steps.Update(values, node, thread=_thread(choose))


def _update_back(choose: Random, play: _Play) -> steps.GraphStep:
    node, values = choose.choice(play.updates)
    return steps.Update(values, node, at=choose.randrange(_CHECKPOINTS), thread=_thread(choose))


def _copy(choose: Random, play: _Play) -> steps.GraphStep:
    return steps.Copy(choose.randrange(_CHECKPOINTS), thread=_thread(choose))


def _answer(choose: Random, play: _Play) -> steps.GraphStep:
    return steps.Answer(choose.choice(["yes", 0, {"a": [1]}]), thread=_thread(choose))


def _answer_each(choose: Random, play: _Play) -> steps.GraphStep:
    asked = choose.sample(play.questions, choose.randint(1, len(play.questions)))
    return steps.AnswerEach(
        {question: f"to {question}" for question in asked}, thread=_thread(choose)
    )
