"""Programs that the author of a target has pinned are run first, in every run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, plan_of
from tests.conformance.plugin_support import TOY, Project
from tests.conformance.selftest_support import target_of
from tests.wrong_savers import WRONG
from tests.wrong_savers.registry import opener

from saverproof import Target, target
from saverproof.errors import TargetError
from saverproof.families.answer import Status
from saverproof.families.functional.effort import ProgramEffort
from saverproof.families.functional.judging import FunctionalJudging
from saverproof.families.items import Outcome
from saverproof.families.tally import Tally
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.programs.steps.codec import to_json
from saverproof.programs.steps.definitions import GetTuple, Program, Put
from saverproof_reports import artefact
from saverproof_reports.artefacts import write_artefact

PROGRAM: Program = (
    Put("b", "", 7), Put("a", "", 1), Put("a", "", 1), GetTuple("a"), GetTuple("b"),
)  # fmt: skip
PINNING = "durable=False, examples=['pinned/torn.json']"
CONTRACT = "upsert/put-is-idempotent"
WRONG_ONE = target_of(next(wrong for wrong in WRONG if wrong.name == "insert-only"))
RIGHT = Target(name="wrong", open=opener(ReferenceSaver))


@pytest.fixture
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but what is given is tried."""
    for name in ("_enumerate", "_cross_axes", "_search", "_take_bulk"):
        monkeypatch.setattr(FunctionalJudging, name, lambda *_: None)


def recorded(path: Path, **other: Any) -> Path:
    """An artefact that was recorded for a contract of another family than it breaks now."""
    facts = {
        "contract": "ordering/list-newest-first", "saver": "toy", "target": "toy", "versions": {},
        "api": "async", "phase": "functional", "seed": 0, "program": to_json(PROGRAM),
    }  # fmt: skip
    path.parent.mkdir(exist_ok=True)
    write_artefact(artefact(**{**facts, **other}), path)
    return path


def judged(judging: Target, folder: Path, *paths: Path) -> Outcome:
    """What the upsert family comes to."""
    facts = facts_from(EVERY_OPERATION) | {"name": "wrong", "examples": [str(p) for p in paths]}
    plan = plan_of(judging, "upsert", "sync", folder, facts=facts)
    tally = Tally(plan)
    effort = ProgramEffort(steps=0, examples=0, bulk=False, heavy=False, makers=frozenset())
    FunctionalJudging(plan, judging, tally, effort).run()
    return tally.outcome()


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("as_file", [False, True], ids=["steps", "artefact"])
def test_what_they_break_is_shortened_and_blamed_as_any_other(
    tmp_path: Path, as_file: bool
) -> None:
    paths = [recorded(tmp_path / "pinned" / "one.json")] if as_file else []
    pinning = WRONG_ONE if as_file else replace(WRONG_ONE, examples=(PROGRAM,))
    assert judged(WRONG_ONE, tmp_path).findings == ()
    outcome = judged(pinning, tmp_path, *paths)
    assert [found.contract for found in outcome.findings] == [CONTRACT]
    assert len(outcome.findings[0].steps) < len(PROGRAM)


@pytest.mark.usefixtures("no_search")
def test_a_right_saver_is_judged_by_them_and_accused_of_nothing(tmp_path: Path) -> None:
    outcome = judged(replace(RIGHT, examples=(PROGRAM,)), tmp_path)
    assert outcome.findings == ()
    assert outcome.checked[CONTRACT] > 0
    assert outcome.extra["programs"] == {"pinned": {"programs": 1, "steps": len(PROGRAM)}}


@pytest.mark.parametrize(
    ("examples", "told"),
    [
        ("one.json", "examples is 'one.json', expected a sequence of paths and programs"),
        ([()], "expected the path of an artefact, or a tuple of steps"),
        ([7], "examples is 7, expected the path of an artefact, or a tuple of steps"),
        ([("put",)], "examples is 'put', expected steps"),
    ],
)
def test_what_is_no_example_is_told_in_one_line(examples: Any, told: str) -> None:
    with pytest.raises(TargetError) as raised:
        target(name="toy", examples=examples)(lambda workspace: None)
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    recorded(
        tmp_path / "pinned" / "torn.json", contract="atomicity/all-or-nothing", api="sync",
        phase="fault", program={"steps": []},
    )  # fmt: skip
    project.write("toys.py", TOY.replace("durable=False", PINNING))
    return project


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (Status.FAILING, "violated"),
        (Status.FIXED, "held"),
        (Status.NOT_SEEN, "held"),
        (Status.UNCLEAR, "unknown"),
    ],
)
def test_an_artefact_of_a_fault_is_run_again_as_it_is(
    project: Project, answer: Status, verdict: str
) -> None:
    project.script(replay={"status": answer, "said": "half of it"})
    result = project.judge("--saver-families=atomicity", "--saver-report=out", "--saver-api=sync")
    contracts = {one["id"]: one for one in result.report("out")["savers"][0]["contracts"]}
    found = contracts["atomicity/all-or-nothing"]
    assert found["verdict"] == verdict
    if verdict == "unknown":
        assert found["reason"].endswith("torn.json, which is pinned, cannot be run: half of it")


def test_an_example_that_is_not_there_ends_the_run_with_one_line(project: Project) -> None:
    (project.folder / "pinned" / "torn.json").unlink()
    result = project.judge("--saver-families=filter")
    assert result.status == 4
    (error,) = result.errors
    assert error.startswith("ERROR: target 'toy': examples: ")
    assert error.endswith("torn.json: cannot be read: No such file or directory")
