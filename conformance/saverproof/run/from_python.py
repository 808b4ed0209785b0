"""Judge a saver from Python, for notebooks and for runners other than pytest."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from saverproof.errors import SaverproofError, TargetError
from saverproof.process.scratch import scratch_folder
from saverproof.savers.targets.target import Target
from saverproof_reports import html, markdown, read_report, write_report
from saverproof_reports.unsettled import musts

_JUDGED = (0, 1)
"""The exit statuses of pytest after a run that was finished."""


@dataclass(frozen=True, slots=True)
class Report:
    """The results of a run.

    Attributes:
        data: the whole of report.json (schema ``saverproof-report/1``).
        output: what the run printed.
        passed: True if nothing failed the run: no violated must, no unsettled must (unless the run
            is lenient), no stale known violation and, in a strict run, no must that could not be
            judged.
    """

    data: Mapping[str, Any]
    output: str
    passed: bool

    @property
    def contracts(self) -> Mapping[str, Mapping[str, Any]]:
        """The contracts by id, each with ``verdict``, ``level``, ``reason`` and ``violations``."""
        return {one["id"]: one for one in self.data["savers"][0]["contracts"]}

    @property
    def violated(self) -> tuple[str, ...]:
        """The ids of the violated musts."""
        broken = [one for one in self.contracts.values() if one["verdict"] == "violated"]
        return tuple(one["id"] for one in broken if one["level"] == "must")

    @property
    def unsettled(self) -> tuple[str, ...]:
        """The ids of the musts with wrong answers that could not be settled."""
        return tuple(one["id"] for one in musts(self.data["savers"][0]))

    def html(self) -> str:
        """Return the report as an HTML page."""
        return html(self.data)

    def markdown(self) -> str:
        """Return the report as Markdown, the form in which a notebook shows it."""
        return markdown(self.data)

    def write(self, folder: str | PathLike[str]) -> Path:
        """Write report.json, report.html and report.md, and return the path of the first.

        Scripts and artefacts of violations are written only by a run that is given ``report``.
        """
        return write_report(self.data, Path(folder))

    def _repr_markdown_(self) -> str:
        return self.markdown()


def judge(
    target: Target | str,
    *,
    profile: str = "default",
    api: str = "both",
    families: Iterable[str] = (),
    contracts: Iterable[str] = (),
    seed: int = 0,
    budget: str | None = None,
    known: str | PathLike[str] | None = None,
    report: str | PathLike[str] | None = None,
    strict: bool = False,
    lenient: bool = False,
    workers: int = 0,
) -> Report:
    """Judge a saver as ``pytest --saver`` does, in processes of its own, and return the report.

    Args:
        target: what ``--saver`` takes (a name, ``module:attribute``, ``file.py:attribute``), or a
            target that a module defines.
        profile: "quick", "default" or "deep".
        api: "sync", "async" or "both".
        families: the families to judge; by default all.
        contracts: the contracts to judge; by default all.
        seed: the seed of all random choices.
        budget: the time that the run may take, such as "10m"; by default what the profile needs.
        known: a known-violations file; "none" leaves out what the kit knows of released savers.
        report: a folder for report, scripts and artefacts; by default they are not kept.
        strict: also fail if a must could not be judged.
        lenient: do not fail because of wrong answers that could not be settled.
        workers: number of processes that judge side by side, as with ``pytest -n``; 0 is one.

    Raises:
        TargetError: the target is defined where no other process can import it.
        SaverproofError: the run could not be made; the message is one line.
    """
    options = {
        "--saver": _name(target),
        "--saver-profile": profile,
        "--saver-api": api,
        "--saver-families": ",".join(families),
        "--saver-contracts": ",".join(contracts),
        "--saver-budget": budget,
        "--saver-known": known,
        "--hypothesis-seed": seed,
    }
    given = [f"{name}={value}" for name, value in options.items() if value not in (None, "")]
    given += ["--saver-strict"] if strict else []
    given += ["--saver-lenient"] if lenient else []
    given += ["-n", str(workers)] if workers else []
    with scratch_folder() as scratch:
        folder = scratch if report is None else Path(report)
        status, output = _run([*given, f"--saver-report={os.path.abspath(folder)}"])
        if status not in _JUDGED:
            raise SaverproofError(_trouble(output))
        return Report(read_report(folder / "report.json"), output, passed=status == 0)


def _name(target: Target | str) -> str:
    if isinstance(target, str):
        return target
    module = getattr(target.open, "__module__", "__main__")
    if module == "__main__":
        raise TargetError(
            f"target {target.name!r} is defined in __main__, where no other process finds it; "
            "expected one in a file (in a notebook: %%writefile my_target.py)"
        )
    found = sys.modules[module]
    names = [name for name, value in vars(found).items() if value is target]
    if not names:
        raise TargetError(f"target {target.name!r}: {module} has no attribute that holds it")
    return f"{module}:{names[0]}"


def _run(options: list[str]) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    # What this process can import, the run can import, too.
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": path},
    ) as process:
        try:
            output, _ = process.communicate()
        except BaseException:
            # As Ctrl-C ends pytest: it leaves nothing behind.
            process.send_signal(signal.SIGINT)
            process.communicate()
            raise
    return process.returncode, output.decode("utf-8", "backslashreplace")


def _trouble(output: str) -> str:
    lines = [line for line in output.splitlines() if line.startswith("ERROR: ")]
    return lines[0].removeprefix("ERROR: ") if lines else f"pytest ended early: {output[-400:]}"
