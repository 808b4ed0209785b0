"""Judge one release in an environment of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from field_packages import FIELD, Release
from field_results import Result, failure, reduced

from saverproof_reports import ReportError, load_report

SCRIPT_LIMIT_S = 180.0
"""Seconds that one script of a violation may take."""
HANGS = 124
"""The status of a script that did not end in that time, as the command ``timeout`` has it."""


class _Failed(Exception):  # noqa: N818 - it carries a result
    def __init__(self, step: str, said: str) -> None:
        super().__init__(said)
        self.step = step


def judged(release: Release, kit: Path, folder: Path, limit_s: float, budget: str) -> Result:
    """Return what a release is found to keep and break, or why it could not be judged.

    The environment has the wheel ``kit``; it, the report and its scripts stay in ``folder``.
    """
    started = time.monotonic()
    python = folder / "venv" / "bin" / "python"
    report = folder / "report"
    try:
        _install(python, [str(kit), release.requirement, *release.extras])
        _judge(python, release, report, limit_s, budget)
        data = load_report(report)
        return reduced(data, release, _scripts(python, data, report))
    except _Failed as failed:
        return failure(release, failed.step, str(failed), time.monotonic() - started)


def shown_again(
    release: Release, contracts: Sequence[str], kit: Path, folder: Path, limit_s: float
) -> dict[str, int | None]:
    """Judge these contracts alone, and return the exit statuses of the scripts that show them.

    A contract that was not seen broken has none, and neither has one if nothing could be judged.
    """
    python = folder / "venv" / "bin" / "python"
    report = folder / "report"
    try:
        _install(python, [str(kit), release.requirement, *release.extras])
        _judge(python, release, report, limit_s, "2m", contracts)
        return _scripts(python, load_report(report), report)
    except (_Failed, ReportError):
        return {}


def _install(python: Path, requirements: list[str]) -> None:
    """Make an environment: by uv where it is installed, which is ten times as fast as pip."""
    folder = python.parents[1]
    uv = shutil.which("uv")
    if uv is None:
        commands = [
            [sys.executable, "-m", "venv", str(folder)],
            [str(python), "-m", "pip", "install", "--quiet", *requirements],
        ]
    else:
        commands = [
            [uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)],
            [uv, "pip", "install", "--quiet", "--python", str(python), *requirements],
        ]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise _Failed("install", _last_line(done.stderr or done.stdout))


def _judge(
    python: Path,
    release: Release,
    report: Path,
    limit_s: float,
    budget: str,
    contracts: Sequence[str] = (),
) -> None:
    """Judge a release, of its families or of ``contracts`` alone."""
    families = f"--saver-families={release.families}" if release.families else ""
    only = f"--saver-contracts={','.join(contracts)}" if contracts else families
    command = [str(python), "-m", "saverproof", "judge", release.target]
    options = [
        f"--saver-report={report}",
        f"--saver-budget={budget}",
        f"--saver-api={release.api}",
        "--saver-known=none",
        *([only] if only else []),
    ]
    # A run that is interrupted ends its judges and servers by itself, which a kill would not.
    limited = ["timeout", "--signal=INT", "--kill-after=30", str(limit_s)]
    done = subprocess.run(
        [*limited, *command, *options],
        cwd=report.parent,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode in (124, 137):
        raise _Failed("time", f"it was not judged within {limit_s:.0f} s")
    if done.returncode not in (0, 1):
        raise _Failed("open", _last_line(done.stderr or done.stdout))


def environment() -> Mapping[str, str]:
    """Return the environment in which the targets of ``field/targets`` are found."""
    return {**os.environ, "PYTHONPATH": str(FIELD)}


def _scripts(python: Path, data: Mapping[str, Any], report: Path) -> dict[str, int | None]:
    """Run the first script of each broken must alone; return its exit status by contract.

    A must whose breach has no script gets None.
    """
    found: dict[str, int | None] = {}
    (judged_saver,) = data["savers"]
    for contract in judged_saver["contracts"]:
        if contract["level"] == "must" and contract["verdict"] == "violated":
            scripts = [one["reproducer"] for one in contract["violations"]]
            # One API may have a script where the other has none.
            script = next(filter(None, scripts), None)
            found[contract["id"]] = None if script is None else status(python, report / script)
    return found


def status(python: Path, script: Path) -> int:
    """Return the exit status of a script: 1 if it shows what it is about."""
    try:
        done = subprocess.run(
            [str(python), str(script)],
            cwd=script.parent,
            env=environment(),
            capture_output=True,
            timeout=SCRIPT_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return HANGS
    return done.returncode


def _last_line(said: str) -> str:
    lines = [line.strip() for line in said.strip().splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"


def keep(folder: Path, result: Result) -> None:
    """Keep a result beside its report, for whoever looks at both."""
    (folder / "result.json").write_text(json.dumps(result, indent=1) + "\n", "utf-8")
