"""``saverproof replay``: fixed, still failing, or not to be told."""

from pathlib import Path
from typing import Any

import pytest
from tests.conformance.plugin_support import Project, Result

from saverproof.contracts.registry import contract
from saverproof.programs.steps.codec import to_json
from saverproof.programs.steps.definitions import ListTuples, Put
from saverproof.programs.steps.identifiers import mint
from saverproof_reports import artefact, write_artefact

TOYS = """
import os, threading
from contextlib import contextmanager
from pathlib import Path
from langgraph.checkpoint.memory import InMemorySaver
from saverproof import target

MOOD = Path(__file__).with_name("mood").read_text()

class Toy(InMemorySaver):
    def list(self, config, **arguments):
        match MOOD:
            case "dies" if config["configurable"]["thread_id"] == "a":
                os._exit(7)
            case "hangs" if config["configurable"]["thread_id"] == "a":
                threading.Event().wait()
            case "works" if config["configurable"]["thread_id"] == "a":
                while True:
                    pass
        found = list(super().list(config, **arguments))
        return iter(reversed(found) if MOOD == "wrong" else found)

@target(durable=False, capabilities={"async": "a toy"})
@contextmanager
def toy(workspace):
    yield Toy()
"""
PROGRAM = (Put("a", "", 1), Put("a", "", 2, 1), ListTuples("a", ""))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.write("toys.py", TOYS)
    return project


def replayed(project: Project, mood: str, *options: str, **fields: Any) -> Result:
    """Replay an artefact of the toy, whose saver is in a certain mood."""
    project.write("mood", mood)
    given: dict[str, Any] = {
        "contract": "ordering/list-newest-first",
        "saver": "toy",
        "target": "toys.py:toy",
        "versions": {"langgraph-checkpoint": "2.0"},
        "api": "sync",
        "phase": "functional",
        "seed": 0,
        "program": to_json(PROGRAM),
        "summary": "the order differs",
    }
    write_artefact(artefact(**{**given, **fields}), project.folder / "one.json")
    return project.saverproof("replay", "one.json", *options)


@pytest.mark.parametrize(
    ("mood", "fields", "status", "said"),
    [
        (
            "wrong",
            {},
            1,
            "still failing: ordering/list-newest-first (sync) on toy: the order differs",
        ),
        ("right", {}, 0, "fixed: ordering/list-newest-first (sync) on toy: the program no"),
        # Another contract is not blamed for what this one's program shows.
        ("wrong", {"contract": "ordering/limit-is-a-prefix"}, 0, "fixed: "),
        ("dies", {}, 2, "cannot run: ordering/list-newest-first (sync) on toy: the process ended"),
        (
            "dies",
            {"summary": "the process ended itself with status 7"},
            1,
            "still failing: ordering/list-newest-first (sync) on toy: the process ended itself",
        ),
        ("hangs", {"summary": "no answer after 10 s"}, 1, "no answer after 5 s"),
        ("right", {"api": "async"}, 2, "toy has no async API"),
        ("right", {"program": [{"step": "Dance"}]}, 2, "step 1: step is 'Dance', expected one of"),
    ],
)
def test_an_artefact_is_run_again(
    project: Project, mood: str, fields: dict[str, Any], status: int, said: str
) -> None:
    result = replayed(project, mood, "--watchdog", "5", **fields)
    assert result.status == status, result.output
    assert said in result.output
    assert "langgraph-checkpoint 2.0 when it was recorded, " in result.output
    assert "Traceback" not in result.output
    assert "\x1b" not in result.output


def test_a_saver_that_is_at_work_does_not_show_that_it_hangs_still(project: Project) -> None:
    result = replayed(project, "works", "--watchdog", "1", summary="no answer after 10 s")
    assert result.status == 2
    assert "cut off after 6 s without an answer, while it was still at work" in result.output


def test_what_still_fails_is_shown(project: Project) -> None:
    result = replayed(project, "wrong", steps=["put 1", "put 2"])
    newest, oldest = (mint(number) for number in (2, 1))
    for line in (
        f"  expected  ['{newest}', '{oldest}']",
        f"  observed  ['{oldest}', '{newest}']",
        "  steps     1. put 1",
        "            2. put 2",
        f"  fix       {contract('ordering/list-newest-first').fix}",
    ):
        assert line in result.output.splitlines()


def test_another_saver_may_be_tried(project: Project) -> None:
    assert replayed(project, "wrong", "--saver=memory").status == 0


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"contract": "ordering/list-newest"}, "no contract 'ordering/list-newest'; nearest: "),
        ({"target": "gone.py:toy"}, "gone.py does not exist"),
        (
            {"target": {"saver": "x", "module": None, "file": "/gone.py", "attribute": "x"}},
            "one.json: found no target in /gone.py; give --saver",
        ),
        ({"target": {"place": "somewhere"}}, "one.json: target: found no place of a target"),
    ],
)
def test_an_artefact_of_another_place_or_time_is_told_in_one_line(
    project: Project, fields: dict[str, Any], said: str
) -> None:
    result = replayed(project, "right", **fields)
    assert result.status == 2
    (line,) = result.output.splitlines()
    assert line.startswith("Error: ")
    assert said in line


@pytest.mark.parametrize(
    ("text", "said"),
    [(None, "cannot be read: No such file"), ("{", "is not whole JSON"), ("[]", "found a list")],
)
def test_a_file_that_is_no_artefact_is_told_in_one_line(
    project: Project, text: str | None, said: str
) -> None:
    if text is not None:
        project.write("one.json", text)
    result = project.saverproof("replay", "one.json")
    assert (result.status, len(result.output.splitlines())) == (2, 1)
    assert said in result.output
