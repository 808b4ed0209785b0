"""Judging a saver by real graphs: good ones hold everything, wrong ones are caught and blamed.

By day one wrong saver of each kind of loss, and each through one API.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from tests.conformance import graph_savers
from tests.conformance.graphs.graph_plans import judged, memory_target, plan
from tests.conformance.script_runs import CANNOT_TELL, ended
from tests.conformance.selftest_support import EVERY_FAMILY
from tests.nights import by_night
from typing_extensions import TypedDict

from saverproof.capability import Capability
from saverproof.families.answer import Status
from saverproof.families.graph import scenarios
from saverproof.families.graph.family import GraphFamily, plays
from saverproof.families.graph.replay import replay
from saverproof.families.graph.scenarios import FUNCTIONAL, REPLAY, SAME, SCENARIOS
from saverproof.families.items import Outcome
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.target import Target
from saverproof_savers import targets

CONTRACTS = {SAME, FUNCTIONAL, REPLAY}


@pytest.mark.parametrize(
    ("subject", "api"),
    [
        (targets.memory, "async"),
        by_night(targets.sqlite, "sync"),
        (targets.sqlite, "async"),
        (targets.langgraph_sqlite, "sync"),
        by_night(targets.langgraph_sqlite_async, "async"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_a_good_saver_holds_everything(subject: Target, api: str, tmp_path: Path) -> None:
    outcome = judged(subject, tmp_path, api)
    assert outcome.findings == ()
    assert outcome.unknown == {}
    assert outcome.inapplicable == {}
    assert set(outcome.checked) == CONTRACTS
    assert not list(tmp_path.iterdir())


WRONG = {
    graph_savers.DropsWrites: {SAME, FUNCTIONAL},
    graph_savers.ForgetsAnswers: {SAME, FUNCTIONAL},
    graph_savers.ForgetsTasks: {SAME, FUNCTIONAL},
    graph_savers.LosesParents: {SAME},
    graph_savers.Stale: {SAME, FUNCTIONAL},
    graph_savers.IgnoresNamespaces: {SAME},
    graph_savers.IgnoresForeignBefore: {REPLAY},
    graph_savers.EmptiesCopies: {SAME},
    graph_savers.Fails: {SAME, FUNCTIONAL},
    graph_savers.WrongOrder: {SAME},
    graph_savers.MixesThreads: {SAME, FUNCTIONAL},
}


APIS = ("sync", "async")
SCRIPTED = graph_savers.ForgetsTasks
"""What is judged once for two tests: that of scripts tells what it is blamed for as well."""
LIKE_OTHERS = {graph_savers.DropsWrites, graph_savers.ForgetsAnswers, graph_savers.Stale}
"""What breaks the contracts that others break, and has its night."""
THROUGH = [
    pytest.param(wrong, api, id=f"{wrong.__name__}-{api}")
    for number, wrong in enumerate(WRONG)
    if wrong is not SCRIPTED and (EVERY_FAMILY or wrong not in LIKE_OTHERS)
    # By day each through one of them, and each API by half of the savers.
    for api in (APIS if EVERY_FAMILY else APIS[number % 2 :][:1])
]


@pytest.mark.parametrize(("wrong", "api"), THROUGH)
def test_a_wrong_saver_is_blamed_for_what_it_breaks(wrong: Any, api: str, tmp_path: Path) -> None:
    outcome = judged(memory_target(wrong, opening=_opening(wrong)), tmp_path, api)
    assert_rightly_blamed(wrong, outcome)


def assert_rightly_blamed(wrong: Any, outcome: Outcome) -> None:
    assert {finding.contract for finding in outcome.findings} == WRONG[wrong]
    for finding in outcome.findings:
        assert finding.phase == "graph"
        assert finding.expected != finding.observed
        assert len(finding.steps) == 1 + len(finding.program["steps"])
        assert finding.reproducer
        refused = ", after put raised OSError('disk gone')" in finding.observed
        assert refused is (wrong is graph_savers.Fails)


@pytest.mark.parametrize("api", ["sync", "async"])
def test_a_call_that_only_a_subgraph_was_refused_is_named(api: str, tmp_path: Path) -> None:
    def observed(kind: Any) -> str:
        found = judged(memory_target(kind), tmp_path, api).findings
        return next((one.observed for one in found if one.contract == SAME), "")

    refused, lost = observed(graph_savers.RefusesInside), observed(graph_savers.LosesInside)
    told = r", after put_writes in namespace '[^']+' raised OSError\('disk gone'\)$"
    assert lost
    assert re.sub(told, "", refused) == lost != refused
    assert observed(graph_savers.TriesAgainInside) == ""


def _opening(kind: Any) -> str:
    folder = str(Path(__file__).parents[3])
    return (
        f"import sys\nsys.path.insert(0, {folder!r})\n"
        "from contextlib import nullcontext\n"
        "from importlib import import_module\n"
        f"nullcontext(import_module({kind.__module__!r}).{kind.__name__}())"
    )


@pytest.mark.parametrize("api", ["sync", by_night("async")])
def test_a_reproducer_stands_alone_and_fails_while_the_flaw_is_there(
    api: str, tmp_path: Path
) -> None:
    outcome = judged(memory_target(SCRIPTED, opening=_opening(SCRIPTED)), tmp_path, api)
    assert_rightly_blamed(SCRIPTED, outcome)
    script = next(one for one in outcome.findings if one.contract == FUNCTIONAL).reproducer
    mended = script.replace("ForgetsTasks()", "Base()")
    assert "saverproof" not in script
    assert ended(script, tmp_path)[0] == 1
    assert ended(mended, tmp_path)[0] == 0
    shut = script.replace("ForgetsTasks()", "Nobody()")
    assert ended(shut, tmp_path)[0] == CANNOT_TELL


def test_a_reproducer_of_a_saver_without_opening_text_imports_it(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "my_testing.py").write_text(
        "from contextlib import contextmanager\n"
        "from langgraph.checkpoint.memory import InMemorySaver\n\n"
        "class Forgetful(InMemorySaver):\n"
        "    def put_writes(self, *arguments):\n"
        "        pass\n\n"
        "@contextmanager\n"
        "def forgetful(workspace):\n"
        "    yield Forgetful()\n"
    )
    reference = TargetRef("x", None, str(folder / "my_testing.py"), "forgetful")
    outcome = judged(load(reference), tmp_path, "sync")
    assert {ended(finding.reproducer, tmp_path)[0] for finding in outcome.findings} == {1}


def test_a_saver_without_history_is_not_asked_for_it(tmp_path: Path) -> None:
    class Shallow(InMemorySaver):
        def list(self, *arguments: Any, **named: Any) -> Any:
            raise AssertionError("the history was asked for")

        alist = list

    without = (Capability.HISTORY,)
    outcome = judged(memory_target(Shallow), tmp_path, "sync", without=without)
    assert outcome.findings == ()
    assert set(outcome.checked) == {SAME, FUNCTIONAL}
    assert outcome.inapplicable == {REPLAY: "history: declined"}


def test_what_differs_on_memory_itself_is_held_against_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class State(TypedDict):
        log: Any

    def dice(note: Any, saver: Any) -> Any:
        graph = StateGraph(State)
        graph.add_node("roll", lambda state: {"log": random.random()})
        return graph.add_edge(START, "roll").compile(checkpointer=saver)

    monkeypatch.setattr(scenarios, "maker", lambda graph, api: dice)
    monkeypatch.setattr("saverproof.families.graph.bench.maker", lambda graph, api: dice)
    outcome = judged(targets.memory, tmp_path, "sync")
    assert outcome.findings == ()
    assert set(outcome.unknown) == {SAME}
    assert "varies" in outcome.unknown[SAME]


def test_every_scenario_is_played_and_by_default_in_every_mode(tmp_path: Path) -> None:
    quick = [play.scenario for play in plays(plan(tmp_path, "sync"))]
    default = {
        (play.scenario.name, play.mode) for play in plays(plan(tmp_path, "sync", profile="default"))
    }
    assert quick == list(SCENARIOS)
    assert default >= {(known.name, mode) for known in SCENARIOS for mode in known.modes}


def test_a_death_is_blamed_on_the_program_that_was_being_played(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    judged(targets.memory, tmp_path, "sync", journal=str(journal))
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    first = GraphFamily().blame_of_death(plan(tmp_path, "sync"), targets.memory, lines[:1])
    assert first.contract == SAME
    assert first.steps == ("invoke the graph with {'log': ['one']}",)
    assert {line["contract"] for line in lines} == CONTRACTS


def test_a_saver_without_early_writes_is_judged_by_what_it_can_keep(tmp_path: Path) -> None:
    class Late(graph_savers.Base):
        def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
            if self.get_tuple(config) is not None:
                super().put_writes(config, writes, task_id, task_path)

    without = (Capability.EARLY_WRITES,)
    outcome = judged(memory_target(Late), tmp_path, "async", without=without)
    assert outcome.findings == ()
    assert set(outcome.checked) == CONTRACTS


def test_a_finding_can_be_replayed_from_its_data(tmp_path: Path) -> None:
    wrong = memory_target(graph_savers.LosesParents)
    (finding,) = judged(wrong, tmp_path, "sync").findings
    data = json.loads(json.dumps(finding.program))
    where, contract = plan(tmp_path, "sync"), finding.contract
    assert replay(where, wrong, contract, data).status is Status.FAILING
    mended = replay(where, memory_target(graph_savers.Base), contract, data)
    assert mended.status is Status.FIXED


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"graph": "none"}, "graph: found 'none', expected one of sequence"),
        ({"durability": "never"}, "durability: found 'never', expected one of sync"),
        ({"steps": [{"step": "Jump"}]}, "step 1: step is 'Jump', expected one of Invoke"),
    ],
)
def test_what_is_no_recorded_program_is_refused_in_one_line(
    change: Any, complaint: str, tmp_path: Path
) -> None:
    data = {"contract": SAME, "scenario": "x", "graph": "sequence", "durability": "sync"}
    with pytest.raises(ValueError, match=complaint):
        replay(plan(tmp_path, "sync"), targets.memory, SAME, {**data, "steps": [], **change})
