"""The workflow that ``saverproof init`` writes, run to its end: green for a saver that is right,
and for one whose violations are listed.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from tests.conformance.shared_forks import share_forks

import saverproof_savers
from saverproof.run.cli import main
from saverproof.run.known.reading import read_known

AT_NIGHT = "SAVERPROOF_SEEDS" in os.environ
"""Nightly runs take the workflow as it is, which takes minutes; others look at less."""
WITHOUT = ("-p", "no:langsmith_plugin")
"""By day each run leaves out what takes a fifth of its start, and has no part in judging."""

WRONG = """
from copied_savers import SqliteSaver


class KeepsTheFirst(SqliteSaver):
    \"\"\"Reads before it writes, so that callers overtake one another, and keeps the first write of
    a task to a channel, also of those of which the last one counts.
    \"\"\"

    def put_writes(self, config, writes, task_id, task_path=""):
        found = self.get_tuple(config)
        before = {(task, channel) for task, channel, _ in found.pending_writes} if found else ()
        fresh = [write for write in writes if (task_id, write[0]) not in before]
        super().put_writes(config, fresh, task_id, task_path)
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with savers that it has from nobody: copies of the bundled ones, renamed."""
    share_forks()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "copied"\nversion = "1"\n')
    package = tmp_path / "copied_savers"
    shutil.copytree(Path(saverproof_savers.__path__[0]), package)
    shutil.rmtree(package / "targets")
    for path in package.rglob("*.py"):
        path.write_text(path.read_text().replace("saverproof_savers", package.name))
    (tmp_path / "wrong_saver.py").write_text(WRONG)
    return tmp_path


def init(saver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the files, and judge nothing: that is left to the workflow."""
    with monkeypatch.context() as without_judging:
        without_judging.setattr("saverproof.run.cli.init.run_pytest", lambda arguments: 0)
        result = CliRunner().invoke(main, ["init", saver, "--yes"])
    assert result.exit_code == 0, result.output


def commands(project: Path) -> Iterator[str]:
    """What the steps of the workflow run."""
    text = (project / ".github" / "workflows" / "saverproof.yml").read_text()
    (job,) = yaml.safe_load(text)["jobs"].values()
    yield from (step["run"] for step in job["steps"] if "run" in step)


def steps_run(project: Path, *options: str) -> tuple[int, str]:
    """Run them as GitHub does, up to the first that fails; the status and what was printed. By day
    ``options`` of pytest narrow what is judged.
    """
    output = ""
    for command in commands(project):
        if command.startswith("pip install "):
            # What it would fetch from the index is here: the project's own folder, and this kit.
            assert shlex.split(command)[2:] == [".", "saverproof"]
            continue
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", command],
            cwd=project,
            env={
                **os.environ,
                "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
                "PYTEST_ADDOPTS": "" if AT_NIGHT else shlex.join([*WITHOUT, *options]),
                "GITHUB_STEP_SUMMARY": str(project / "summary.md"),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        output += done.stdout
        if done.returncode:
            return done.returncode, output
    return 0, output


@pytest.mark.nightly
def test_it_is_green_for_the_bundled_saver(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    init("copied_savers:SqliteSaver", monkeypatch)
    # Its steps are run by day for the wrong saver, and what it judges by the README's command.
    # A family of each kind, by programs, graphs, faults and kills, through one API: what the other
    # shows of this saver, the tests of these families see.
    few = "--saver-families=upsert,graph,atomicity,durability"
    little = ("--saver-profile=quick", "--saver-api=sync", few)
    status, output = steps_run(project, *little)
    assert status == 0, output
    assert "sqlite-saver keeps all " in output
    assert "keeps all" in (project / "summary.md").read_text()


def test_it_is_green_once_violations_are_listed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    init("wrong_saver:KeepsTheFirst", monkeypatch)
    # What it breaks, by programs and by graphs, and a family that holds. A race that one of two
    # runs alone meets would be new to the other.
    few = "--saver-families=upsert,ordering,graph"
    little = ("--saver-profile=quick", "--saver-api=sync", few)
    status, output = steps_run(project, *little)
    assert status == 1, output
    file = project / "saverproof_known.toml"
    drafted = CliRunner().invoke(main, ["known", "saverproof-report", "-o", str(file)])
    assert drafted.exit_code == 0, drafted.output
    assert read_known(file)
    status, output = steps_run(project, *little)
    assert status == 0, output
    assert " known" in output
