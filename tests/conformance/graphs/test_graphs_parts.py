"""The parts that the judging by graphs is made of."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Interrupt, Send

from saverproof.families.graph.comparing import blamed, narrowed
from saverproof.families.graph.describing import describe
from saverproof.families.graph.installed import abilities, durability_modes
from saverproof.families.graph.node_log import FileNotes, Notes
from saverproof.families.graph.normalise import plain
from saverproof.families.graph.random_programs import drawn
from saverproof.families.graph.runner import Observation, Player
from saverproof.families.graph.scenarios import FUNCTIONAL, REPLAY, SAME, SCENARIOS, maker, scenario
from saverproof.families.graph.steps import Invoke, from_json, to_json
from saverproof.programs.values import same
from saverproof.savers.targets.calling import Api

SYNC = durability_modes()["sync"]


@pytest.mark.parametrize("known", SCENARIOS, ids=lambda known: known.name)
def test_a_program_survives_json_and_has_words_for_each_step(known: Any) -> None:
    assert from_json(json.loads(json.dumps(to_json(known.program)))) == known.program
    assert all(describe(step) for step in known.program)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ([{"step": "Jump"}], "step 1: step is 'Jump', expected one of Invoke"),
        ([{"step": "Invoke"}, {"step": "Copy"}], "step 2: Copy lacks the field 'at'"),
    ],
)
def test_a_program_that_is_none_is_refused_in_one_line(data: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        from_json(data)


def test_random_programs_are_the_same_for_the_same_seed() -> None:
    assert drawn(Random(7), "x", deep=True) == drawn(Random(7), "x", deep=True)
    programs = [drawn(Random(seed), "x", deep=False).program for seed in range(50)]
    assert all(getattr(step, "at", None) is None for program in programs for step in program)


def test_plain_data_has_no_ids_and_no_order_of_simultaneous_questions() -> None:
    task = "5f0d8d0e-0c3f-4e5a-9f6e-0123456789ab"
    one, two = Interrupt(value="one", id="a" * 32), Interrupt(value="two", id="b" * 32)
    assert plain([two, one]) == plain([one, two]) == [{"interrupt": "one"}, {"interrupt": "two"}]
    assert plain({"at": f"node:{task}|1"}) == {"at": "node:<id>|1"}
    assert plain(ValueError(task)) == "ValueError('<id>')"
    assert plain(Send("node", [1])) == {"send to": "node", "arg": [1]}


@pytest.mark.parametrize(
    ("expected", "observed", "path"),
    [
        ({"a": [1, 2]}, {"a": [1, 3]}, "['a'][1]"),
        ({"a": [1, 2]}, {"a": [1]}, "['a']"),
        ({"a": 1}, {"a": True}, "['a']"),
        ({"a": 1}, {}, "['a']"),
        ([1], (1,), ""),
    ],
)
def test_a_difference_is_narrowed_to_its_place(expected: Any, observed: Any, path: str) -> None:
    found, wanted, seen = narrowed("", expected, observed)
    assert found == path
    assert not same(wanted, seen)


@pytest.mark.parametrize(
    ("name", "position", "kind", "contract"),
    [
        ("a question", 0, "writes", SAME),
        ("a review", 1, "nodes", FUNCTIONAL),
        ("a review", 1, "writes", SAME),
        ("a replay with a graph that remembers", 0, "result", SAME),
        ("a replay with a graph that remembers", 2, "result", REPLAY),
        ("a replay with a graph that remembers", 2, "history", SAME),
    ],
)
def test_each_kind_of_observation_stands_for_one_contract(
    name: str, position: int, kind: str, contract: str
) -> None:
    assert blamed(scenario(name), Observation(position, kind, None)) == contract


def test_a_program_ends_where_there_is_no_checkpoint_to_go_back_to() -> None:
    player = Player(maker("sequence", "sync"), InMemorySaver(), Api(), how=SYNC)
    program = (Invoke({"log": []}), Invoke(None, at=99), Invoke({"log": []}))
    assert {seen.position for seen in player.play(program)} == {0}


def test_a_finished_task_is_not_called_again_and_a_failed_one_is() -> None:
    known = scenario("a failing task")
    player = Player(maker(known.graph, "sync"), InMemorySaver(), Api(), how=SYNC)
    nodes = [seen.value for seen in player.play(known.program) if seen.kind == "nodes"]
    assert nodes == [["fetch", "store"], ["store"]]


def test_notes_in_a_file_are_counted_across_processes(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    assert FileNotes(path).names() == []
    assert [FileNotes(path)("a"), FileNotes(path)("b"), FileNotes(path)("a")] == [1, 1, 2]
    assert FileNotes(path).names() == ["a", "b", "a"]
    assert path.stat().st_mode & 0o777 == 0o600


class Killed(BaseException):
    """Stands for the end of the process."""


class Mortal(InMemorySaver):
    """Dies at its operation number ``lives``, and at every one after it."""

    def __init__(self, lives: int) -> None:
        super().__init__()
        self.lives = lives
        self.operations = 0
        self.acknowledged: list[str] = []

    def _live(self) -> None:
        self.operations += 1
        if self.operations > self.lives:
            raise Killed

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        self._live()
        answer = super().put(config, checkpoint, metadata, new_versions)
        if not config["configurable"].get("checkpoint_ns"):
            self.acknowledged.append(metadata["source"])
        return answer

    def put_writes(self, *arguments: Any) -> None:
        self._live()
        super().put_writes(*arguments)


def test_every_graph_can_be_made_for_both_apis() -> None:
    for known in SCENARIOS:
        if known.wants <= abilities():
            for api in ("sync", "async"):
                assert hasattr(maker(known.graph, api)(Notes(), InMemorySaver()), "ainvoke")
