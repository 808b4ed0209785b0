"""Collect the suite: one item for each target, family and API."""

import faulthandler
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from saverproof.contracts.registry import family_table
from saverproof.run.plugin.failures import Stale, Violated
from saverproof.run.plugin.item import FamilyItem, WithoutSaver
from saverproof.run.plugin.judging import KEPT_JUDGE
from saverproof.run.plugin.run import RUN
from saverproof.run.plugin.suite_only import NODE, SUITE
from saverproof.suite.planning import item_id, planned

if TYPE_CHECKING:
    from saverproof.run.plugin.run import Run


class SuiteFile(pytest.File):
    """The packaged suite, with a node id that does not depend on where it is installed."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield one item for each target, family and API."""
        yield from _items(self, self.config.stash[RUN])


def items_in_module(collector: Any) -> list[pytest.Item]:
    """Return the suite's items for a test module that imported it."""
    run = collector.config.stash.get(RUN, None)
    if run is None:
        return [WithoutSaver.from_parent(collector, name="saverproof")]
    return list(_items(collector, run))


def _items(parent: Any, run: "Run") -> Iterator[FamilyItem]:
    for facts in run.savers:
        for family, api in planned(facts, run.apis):
            name = item_id(facts, family, api)
            # Given as text, so that pytest reads the brackets as it does for --lf and arguments.
            nodeid = f"{parent.nodeid}::{name}"
            yield FamilyItem.from_parent(
                parent, name=name, nodeid=nodeid, facts=facts, family=family, api=api
            )


class Collecting:
    """The pytest hooks of every process with items: an xdist worker, or pytest itself without
    xdist.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(tryfirst=True)
    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Let no other plugin ignore the packaged suite."""
        return False if collection_path == SUITE else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_file(self, file_path: Path, parent: Any) -> SuiteFile | None:
        """Collect the packaged suite."""
        if file_path != SUITE:
            return None
        collected: SuiteFile = SuiteFile.from_parent(parent, path=file_path, nodeid=NODE)
        return collected

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> None:
        """Add the suite to the project's own tests if the project's table asks for that.

        Deselect what ``--saver-families`` and node ids of contracts leave out. In an xdist worker,
        put the longest items first.
        """
        if self._config.stash[RUN].beside_tests:
            suite: SuiteFile = SuiteFile.from_parent(session, path=SUITE, nodeid=NODE)
            items.extend(suite.collect())
        if hasattr(self._config, "workerinput"):
            # What begins last ends last: the short ones fill what the long ones leave.
            items.sort(key=_is_short)
        run = self._config.stash[RUN]
        out = [item for item in items if isinstance(item, FamilyItem) and not _is_asked(item, run)]
        if out:
            self._config.hook.pytest_deselected(items=out)
            items[:] = [item for item in items if item not in out]

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Divide the run's time among the items that are left."""
        run = self._config.stash[RUN]
        self._config.stash[RUN] = run.timed(item.name for item in session.items)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Let no ``faulthandler_timeout`` of the project, which was meant for other tests, print
        stacks or end the run: the watchdog is the time limit of an item.
        """
        if isinstance(item, FamilyItem):
            faulthandler.cancel_dump_traceback_later()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, Any, Any]:
        """Send what an item found along with its report, also from a worker.

        An item that found violations passes itself: the reports of its contracts, which the
        controller makes, say which of them failed.
        """
        report: Any = yield
        if call.when == "call" and isinstance(item, FamilyItem) and item.verdict is not None:
            report.saverproof = item.verdict
            if call.excinfo is not None and issubclass(call.excinfo.type, Violated | Stale):
                report.outcome, report.longrepr = "passed", None
        return report

    def pytest_unconfigure(self) -> None:
        """End the judge process."""
        self._config.stash[KEPT_JUDGE].close()


def _is_asked(item: FamilyItem, run: "Run") -> bool:
    if run.families is not None and item.family not in run.families:
        return False
    return run.items is None or item.name in run.items


def _is_short(item: pytest.Item) -> bool:
    return not (isinstance(item, FamilyItem) and family_table(item.family).long)
