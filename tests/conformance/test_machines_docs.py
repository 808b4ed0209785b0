"""The page on machines shows examples that are there, and that fail as it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.sample_run import CI

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "machines.md").read_text(encoding="utf-8")
EXAMPLES = {
    "vacuum": "vacuuming/vacuum",
    "thread_index": "indexed/names-every-thread",
    "faults": "atomicity/all-or-nothing",
}
"""Example -> the contract that its saver breaks."""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder of an author's with the examples as test files, and what pytest says of them."""
    folder = tmp_path_factory.mktemp("author")
    for name in EXAMPLES:
        shutil.copy(ROOT / "tests" / "examples" / f"{name}.py", folder / f"test_{name}.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short"]
    done = subprocess.run(
        [*command, "--hypothesis-seed=1", "--hypothesis-show-statistics"],
        cwd=folder,
        # Where Hypothesis sees a CI it takes no seed, and other programs than the page has.
        env={name: value for name, value in os.environ.items() if name not in CI},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return folder, done.stdout


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_stands_on_the_page_as_it_is(name: str) -> None:
    source = (ROOT / "tests" / "examples" / f"{name}.py").read_text(encoding="utf-8")
    _, _, code = source.partition("\n\n")
    assert code.strip() in PAGE


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_fails_as_the_page_says(name: str, ran: tuple[Path, str]) -> None:
    _, said = ran
    contract = EXAMPLES[name]
    heading = next(line for line in PAGE.splitlines() if line.startswith(f"{contract} ("))
    assert heading.partition(":")[0] in said
    told = said[said.index(f"violates {contract}") :]
    assert "promise " in told
    assert re.search(r"steps\nE +1\. put(_writes)?\(", told)
    assert "generated data" not in said


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_script_of_an_example_shows_the_flaw_alone(name: str, ran: tuple[Path, str]) -> None:
    folder, said = ran
    contract = EXAMPLES[name]
    told = said[said.index(f"violates {contract}") :]
    named = re.search(r"reproduce python (\S+)", told)
    assert named is not None
    alone = subprocess.run(
        [sys.executable, folder / named[1]], capture_output=True, text=True, check=False
    )
    assert alone.returncode == 1
    assert alone.stderr.startswith(f"{contract}: ")


def test_statistics_say_what_was_judged(ran: tuple[Path, str]) -> None:
    _, said = ran
    assert "TestVacuuming::runTest" in said
