"""The pytest plugin.

pytest loads this module in every project in which saverproof is installed. It imports nothing but
pytest and the standard library; everything else comes in with ``--saver``, which is why functions
import here, and nowhere else.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from saverproof.run.plugin import options, suite_only
from saverproof.run.project.table import project_table

if TYPE_CHECKING:
    from saverproof.run.from_python import Report
    from saverproof.savers.targets.target import Target
    from saverproof.savers.workspace import Workspace


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that start with ``--saver``."""
    options.add(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> None:
    """With ``--saver`` and no files on the command line, collect the packaged suite alone.

    Without ``--saver`` the project's own table ``[tool.saverproof]`` counts, if it has one.
    """
    if options.given(early_config.known_args_namespace):
        suite_only.redirect(early_config, parser, args)
        return
    table = project_table(early_config.invocation_params.dir)
    if table is not None:
        from saverproof.run.plugin.by_project import add_project_options

        add_project_options(table, early_config, parser, args)


def pytest_configure(config: pytest.Config) -> None:
    """Find and probe the targets, once a run."""
    config.addinivalue_line(
        "markers",
        "saverproof(target, **options): what the fixture saverproof_report judges, with options "
        "of saverproof.judge; items of the suite bear it, too",
    )
    if config.option.help or config.option.version:
        return
    if options.given(config.option):
        from saverproof.run.plugin.starting import start

        start(config)
    else:
        options.refuse_without_saver(config)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: Any, name: str, obj: object) -> list[pytest.Item] | None:
    """Put the suite's items into a test module that imported it from ``saverproof.suite``."""
    if type(obj).__module__ != "saverproof.suite" or type(obj).__name__ != "Suite":
        return None
    from saverproof.run.plugin.collecting import items_in_module

    return items_in_module(collector)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that uses one of the fixtures below once for each target."""
    if "saverproof_target" in metafunc.fixturenames:
        from saverproof.run.plugin.fixtures import parametrize

        parametrize(metafunc)


@pytest.fixture
def saverproof_target(request: pytest.FixtureRequest) -> "Target":
    """The target that ``--saver`` names, for an author's own tests."""
    from saverproof.run.plugin.fixtures import target_of

    return target_of(request)


@pytest.fixture
def saverproof_workspace(saverproof_target: "Target") -> "Iterator[Workspace]":
    """A new, empty workspace of the target, removed after the test."""
    from saverproof.run.plugin.fixtures import workspace_of

    with workspace_of(saverproof_target) as workspace:
        yield workspace


@pytest.fixture
def saverproof_saver(
    saverproof_target: "Target", saverproof_workspace: "Workspace"
) -> Iterator[Any]:
    """The target's saver, open in ``saverproof_workspace``."""
    from saverproof.run.plugin.fixtures import saver_of

    with saver_of(saverproof_target, saverproof_workspace) as saver:
        yield saver


@pytest.fixture
def saverproof_report(request: pytest.FixtureRequest) -> "Report":
    """The report of judging the saver that the marker ``saverproof``, or else the project,
    names.
    """
    from saverproof.run.plugin.marked import judged_for

    return judged_for(request)
