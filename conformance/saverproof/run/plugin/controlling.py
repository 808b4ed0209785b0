"""Control a run: gather the verdicts, write the report, decide the exit status.

One process does so, which sees the whole run.
"""

import json
import os
import platform
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from saverproof.errors import one_line
from saverproof.process.environment import set_for_langgraph
from saverproof.process.scratch import remove_scratch
from saverproof.process.servers import Servers
from saverproof.run.known.staleness import stale
from saverproof.run.plugin import summary
from saverproof.run.plugin.contract_reports import contract_reports, report_on
from saverproof.run.plugin.first_screen import Screen, wants_details
from saverproof.run.plugin.late_reports import late_failures, undecided
from saverproof.run.plugin.results import Results
from saverproof.run.plugin.run import Run
from saverproof.run.plugin.terminal import OwnSummary, printed_lines
from saverproof.suite.planning import chosen, saver_event
from saverproof_reports.families import with_verdict
from saverproof_reports.github import annotations
from saverproof_reports.junit import run_properties
from saverproof_reports.wording import untried_phrase

WORKER_INPUT = "saverproof"
_NOTHING_JUDGED = (
    "--saver was given, and no contract was judged; expected an item of the suite to run and to "
    "judge one (see -k, -m, --saver-families and files named)"
)


class Controlling:
    """The pytest hooks of the controller: pytest itself, or the process above the xdist workers."""

    def __init__(
        self,
        config: pytest.Config,
        run: Run,
        earlier: Mapping[str, Any] | None,
        servers: Servers,
    ) -> None:
        self._config = config
        self._run = run
        self._earlier = earlier
        self._servers = servers
        self._started = time.monotonic()
        self._results = Results(run.report, run.report_always)
        self._report: dict[str, Any] | None = None
        self._savers: dict[str, Mapping[str, Any]] = {}
        self._session: pytest.Session | None = None
        self._trouble: str | None = None
        self._wholes: dict[tuple[str, str], list[pytest.TestReport]] = {}
        """The reports of the items that have ended, by saver and family."""
        self._printed: dict[str, str] = {}
        """The output of the saver, by the name of the item that found a contract broken."""
        self._own_summary = OwnSummary()
        config.pluginmanager.register(self._own_summary, "saverproof-own-summary")

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hand the run to an xdist worker, so that every worker collects the same items."""
        node.workerinput[WORKER_INPUT] = self._run.to_text()

    def pytest_report_header(self) -> list[str]:
        """Return the lines on savers, versions, profile, seed and watchdog."""
        return summary.header(self._run)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Start the spool before any worker runs an item."""
        self._session = session
        if self._config.option.collectonly:
            return
        if getattr(self._config.option, "maxschedchunk", 0) is None:
            # xdist is not to give several of the longest items to the worker that asks first.
            self._config.option.maxschedchunk = 1
        try:
            self._results.begin()
        except OSError as error:
            raise pytest.UsageError(_unwritable(self._run, error)) from error
        self._results.add(self._run_event())
        for facts in self._run.savers:
            items = chosen(facts, self._run.apis, self._run.families)
            event = saver_event(facts, items, self._run.contracts, self._run.pinned)
            self._savers[facts["name"]] = event
            self._results.add(event)

    def _run_event(self) -> dict[str, Any]:
        packages: dict[str, str] = {}
        for facts in self._run.savers:
            packages |= facts["packages"]
        return {
            "event": "run",
            "environment": {
                "python": platform.python_version(),
                "platform": platform.platform(),
                "packages": dict(sorted(packages.items())),
                **({"variables": variables} if (variables := set_for_langgraph()) else {}),
            },
            "run": {
                "profile": self._run.profile,
                "seed": self._run.seed,
                "started": datetime.now(UTC).isoformat(timespec="seconds"),
                "workers": self._run.workers,
                **self._budget(),
                **({"contracts_version": self._run.pinned} if self._run.pinned else {}),
                **({"lenient": True} if self._config.getoption("saver_lenient") else {}),
            },
        }

    def _budget(self) -> dict[str, float]:
        return {} if self._run.budget_s is None else {"budget_s": self._run.budget_s}

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> list[str]:
        """Return the estimated times of the selected items, without xdist."""
        return self._estimates(item.name for item in items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Write the estimated times of the selected items, with xdist.

        They are written once: all workers have the same items.
        """
        if self._run.times:
            return
        terminal: Any = self._config.pluginmanager.getplugin("terminalreporter")
        for line in self._estimates(nodeid.rpartition("::")[2] for nodeid in ids):
            if terminal is not None and terminal.isatty:
                # The state of the workers stands there, and is written again.
                terminal.rewrite(line, erase=True)
                terminal.write_line("")
            elif terminal is not None:
                terminal.write_line(line)

    def _estimates(self, items: Iterable[str]) -> list[str]:
        self._run = self._run.timed(items)
        if not self._config.option.collectonly:
            estimate_s = round(self._run.estimate_s, 1)
            self._results.add({"event": "run", "run": {"estimate_s": estimate_s}})
        return [] if self._config.get_verbosity() < 0 else summary.estimates(self._run)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record what an item found, in this process or a worker, and report each of its
        contracts.
        """
        text = getattr(report, "saverproof", None)
        if report.when != "call" or text is None:
            return
        self._results.add_text(text)
        item = json.loads(text)
        saver = self._savers[item["saver"]]
        found = list(contract_reports(report, item, saver, self._run))
        self._wholes.setdefault((item["saver"], item["family"]), []).append(report)
        # The terminal counts reports. The contracts are reported in place of their item.
        self._report_contracts(found, -(not report.failed))
        self._remember([report], found)
        if report.sections and any(one.failed for one in found):
            self._printed[report.nodeid.rpartition("::")[2]] = report.sections[-1][1]

    def _report_contracts(self, found: Sequence[pytest.TestReport], beside: int = 0) -> None:
        if self._session is not None:
            self._session.testscollected += len(found) + beside
        for one in found:
            self._config.hook.pytest_runtest_logreport(report=one)

    def _report_late(self, report: Mapping[str, Any]) -> bool:
        """Report the contracts that fail over all APIs of a saver, and return whether there are
        any.
        """
        strict: bool = self._config.getoption("saver_strict")
        failures = [
            (judged["saver"]["name"], contract, failure)
            for judged in report["savers"]
            for contract, failure in late_failures(
                judged, self._results.families(judged["saver"]["name"]), self._run, strict=strict
            )
        ]
        for saver, contract, failure in failures:
            # An unsettled contract may be of a family that is not in this run: any item will do.
            wholes = self._wholes.get((saver, contract.partition("/")[0])) or [
                one for (name, _), those in self._wholes.items() for one in those if name == saver
            ]
            found = [report_on(contract, saver, wholes[0], "failed", failure)]
            self._report_contracts(found)
            self._remember(wholes, found)
        return bool(failures)

    def _remember(
        self, wholes: Iterable[pytest.TestReport], found: Sequence[pytest.TestReport]
    ) -> None:
        """Let ``--lf`` run again the items that have failed contracts.

        Contracts themselves cannot be run.
        """
        cache: Any = self._config.pluginmanager.get_plugin("lfplugin")
        if cache is None:
            return
        for one in found:
            cache.lastfailed.pop(one.nodeid, None)
        if any(one.failed for one in found):
            cache.lastfailed |= dict.fromkeys([whole.nodeid for whole in wholes], True)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.CollectReport | pytest.TestReport
    ) -> tuple[str, str, str] | None:
        """Keep a judged item out of pytest's counts: its contracts are counted."""
        judged = getattr(report, "saverproof", None) is not None and not report.failed
        return ("", "", "") if judged and report.when == "call" else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write the report. Fail a run that judged nothing, or whose known violations are stale."""
        if self._config.option.collectonly:
            return
        broken_off = exitstatus in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)
        duration = round(time.monotonic() - self._started, 3)
        self._results.add({"event": "run", "run": {"duration_s": duration}})
        if not broken_off:
            self._results.add({"event": "end"})
        if self._run.by_project and not self._results.items:
            # Some of the project's tests were run, and none of the suite: there is nothing to say.
            self._results.finish(self._results.report())
            return
        self._report = report = self._results.report()
        stale_fails = self._add_stale(report)
        late_fails = not broken_off and self._report_late(report)
        self._add_to_junit(report)
        try:
            self._results.finish(report)
        except OSError as error:
            self._trouble = _unwritable(self._run, error)
        if broken_off:
            return
        if not _anything_judged(report):
            self._trouble = _NOTHING_JUDGED
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
            return
        fails = stale_fails or self._trouble or late_fails
        if fails and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _undecided(self) -> dict[str, list[Mapping[str, Any]]]:
        """Return, for each saver, the undecided musts of the families in this run."""
        savers = () if self._report is None else self._report["savers"]
        found = {
            judged["saver"]["name"]: undecided(
                judged, self._results.families(judged["saver"]["name"]), self._run
            )
            for judged in savers
        }
        return {name: contracts for name, contracts in found.items() if contracts}

    def pytest_unconfigure(self) -> None:
        """Remove what killed workers left, and end the servers. No worker is left by now."""
        remove_scratch(self._run.token)
        for line in self._servers.end():
            sys.stderr.write(f"saverproof: could not be removed: {one_line(line)}\n")

    def _add_to_junit(self, report: Mapping[str, Any]) -> None:
        """Add the properties of the whole suite if pytest writes JUnit XML."""
        for plugin in self._config.pluginmanager.get_plugins():
            if hasattr(plugin, "add_global_property"):
                for name, value in run_properties(report):
                    plugin.add_global_property(name, value)

    def _add_stale(self, report: Mapping[str, Any]) -> bool:
        """Add the stale known violations to the report, and return whether one of them fails the
        run.
        """
        fails = False
        for judged in report["savers"]:
            name = judged["saver"]["name"]
            entries = self._run.known[name]
            for found in stale(entries, judged["contracts"], self._run.profile, name):
                severity = "error" if found.fails else "warning"
                judged.setdefault("stale", []).append(
                    {"id": found.entry.id, "severity": severity, "message": found.line}
                )
            fails |= any(entry["severity"] == "error" for entry in judged.get("stale", ()))
        return fails

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write the verdicts by family, violated contracts, advice, and what was not judged."""
        if self._report is None:
            return
        terminalreporter.section("saverproof")
        screen = Screen(terminalreporter, self._run, wants_details(self._config))
        for judged in self._report["savers"]:
            if ran := self._results.families(judged["saver"]["name"]):
                summary.write(screen, judged, ran)
        self._write_printed(terminalreporter, screen)
        duration_s = self._report["run"]["duration_s"]
        broken = any(with_verdict(judged, "violated") for judged in self._report["savers"])
        terminalreporter.line(summary.time_taken(self._run.estimate_s, duration_s, broken))
        if self._earlier is not None:
            summary.write_comparison(terminalreporter, self._earlier, self._report, self._run)
        for line in self._results.kept:
            terminalreporter.line(line, yellow=True)
        if self._results.written is not None:
            page = self._results.written.with_suffix(".html")
            terminalreporter.line(f"report: {page} (beside it: report.json, report.md)")
        if self._trouble is not None:
            terminalreporter.line(f"ERROR: {self._trouble}", red=True)
        for judged in self._report["savers"]:
            if untried := untried_phrase(judged):
                terminalreporter.line(f"{judged['saver']['name']}: {untried}", yellow=True)
        fails: bool = self._config.getoption("saver_strict")
        for name, contracts in self._undecided().items():
            line = summary.undecided_line(name, contracts, strict=fails)
            terminalreporter.line(line, red=fails, yellow=not fails)
        for judged in self._report["savers"]:
            screen.write_next(judged)
        if os.environ.get("GITHUB_ACTIONS") == "true":
            for line in annotations(self._report):
                terminalreporter.line(line)
        self._own_summary.write_short(terminalreporter)

    def _write_printed(self, terminal: Any, screen: Screen) -> None:
        """Write the output of savers that broke a contract, once for each item.

        Without details only the first item's output is written.
        """
        for number, (item, text) in enumerate(self._printed.items()):
            if number == 0 or screen.details:
                for line in printed_lines(item, text, whole=screen.details):
                    terminal.line(line)


def _anything_judged(report: Mapping[str, Any]) -> bool:
    return any(
        contract["violations"] or "unsettled" in contract or any(contract["checked"].values())
        for judged in report["savers"]
        for contract in judged["contracts"]
    )


def _unwritable(run: Run, error: OSError) -> str:
    where = f"{error.filename or run.report}: {error.strerror}"
    return f"--saver-report: results cannot be written: {where}; expected a folder to write to"
