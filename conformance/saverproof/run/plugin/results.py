"""The files of a run: a spool while it goes on, a report when it is over."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from saverproof_reports import Spool, report_of, write_report
from saverproof_reports.carry_over import continued, earlier_report
from saverproof_reports.files import write_private
from saverproof_reports.github import append_step_summary
from saverproof_reports.spool import SPOOL
from saverproof_reports.storage import remove_report
from saverproof_reports.wording import count_of, earlier_phrase


class Results:
    """A collector of the run's events, in memory and on disk, which makes a report of them.

    A run that is killed leaves the spool, from which ``saverproof report`` makes a report.
    """

    def __init__(self, folder: Path, always: bool) -> None:
        self._folder = folder
        self._always = always
        self._events: list[dict[str, Any]] = []
        self._spool: Spool | None = None
        self.written: Path | None = None
        """The path of the report once it is written; None if there is none."""
        self.kept: list[str] = []
        """A line for each saver of which the report keeps violations of an earlier run."""
        self._earlier: dict[str, Any] | None = None

    def begin(self) -> None:
        """Start the spool in place of any earlier report."""
        self._earlier = earlier_report(self._folder)
        # A run that is killed must not leave the report of an earlier one in its place.
        remove_report(self._folder)
        self._spool = Spool(self._folder / SPOOL)
        if self._earlier is not None:
            self._spool.append({"event": "earlier", "report": self._earlier})
        if not self._always:
            _keep_out_of_git(self._folder)

    def add(self, event: Mapping[str, Any]) -> None:
        """Add an event (see ``saverproof_reports.events``)."""
        plain = dict(event)
        self._events.append(plain)
        if self._spool is not None:
            self._spool.append(plain)

    def add_text(self, text: str) -> None:
        """Add an event that came as JSON."""
        self.add(json.loads(text))

    @property
    def items(self) -> int:
        """The number of items judged so far."""
        return sum(event["event"] == "item" for event in self._events)

    def families(self, saver: str) -> set[str]:
        """Return the families judged for ``saver`` so far, through any API."""
        return {
            event["family"]
            for event in self._events
            if event["event"] == "item" and event["saver"] == saver
        }

    def report(self) -> dict[str, Any]:
        """Return the report of the events so far."""
        return report_of(self._events)

    def finish(self, report: Mapping[str, Any]) -> None:
        """Write the report if there is something to report, and remove the spool.

        What this run did not judge is taken over from an earlier report in the folder.
        """
        if self._spool is None:
            return
        if self._earlier is not None:
            report = continued(report, self._earlier)
            self.kept = [*_kept(report)]
        if self._always or _found_anything(report):
            self.written = write_report(report, self._folder)
            summary = os.environ.get("GITHUB_STEP_SUMMARY")
            if summary:
                append_step_summary(report, Path(summary))
        self._spool.close()
        self._spool.path.unlink(missing_ok=True)
        if self.written is None and self._folder.is_dir():
            _remove_if_empty(self._folder)


def _kept(report: Mapping[str, Any]) -> Iterator[str]:
    for judged in report["savers"]:
        broken = [
            one
            for one in judged["contracts"]
            if any(violation.get("earlier") for violation in one["violations"])
        ]
        if broken:
            marks = [v["earlier"] for one in broken for v in one["violations"] if v.get("earlier")]
            said = dict.fromkeys(earlier_phrase(mark, judged, report["run"]) for mark in marks)
            name, count = judged["saver"]["name"], count_of(len(broken), "broken contract")
            yield f"{name}: {count} of an earlier run stay in the report, {'; '.join(said)}"


def _found_anything(report: Mapping[str, Any]) -> bool:
    return any(
        judged.get("stale")
        or judged.get("beside")
        or any(one["violations"] or "unsettled" in one for one in judged["contracts"])
        for judged in report["savers"]
    )


def _keep_out_of_git(folder: Path) -> None:
    write_private(folder / ".gitignore", "*\n")


def _remove_if_empty(folder: Path) -> None:
    files = [path.name for path in folder.rglob("*") if not path.is_dir()]
    if files in ([], [".gitignore"]):
        shutil.rmtree(folder)
