"""Judge the saver that a test's marker ``saverproof`` names, for an author's own test."""

import inspect
from typing import Any, NoReturn

import pytest

from saverproof.errors import SaverproofError
from saverproof.run.from_python import Report, judge
from saverproof.run.project.table import project_table

_OPTIONS = [name for name in inspect.signature(judge).parameters if name != "target"]


def judged_for(request: pytest.FixtureRequest) -> Report:
    """Return the report of a run with the marker's target and options.

    A marker without a target stands for the saver of ``[tool.saverproof]``.
    """
    marker = request.node.get_closest_marker("saverproof")
    arguments, options = ((), {}) if marker is None else (marker.args, dict(marker.kwargs))
    for name in options:
        if name not in _OPTIONS:
            expected = ", ".join(_OPTIONS)
            _refuse(f"the marker saverproof: found {name!r}, expected one of {expected}")
    if len(arguments) > 1:
        _refuse(f"the marker saverproof: found {len(arguments)} targets, expected one")
    target = arguments[0] if arguments else _of_project(request.config)
    try:
        return judge(target, **options)
    except SaverproofError as error:
        _refuse(error.message)


def _of_project(config: pytest.Config) -> Any:
    table = project_table(config.invocation_params.dir)
    saver = None if table is None else table.values.get("saver")
    if not isinstance(saver, str):
        _refuse(
            "the fixture saverproof_report: found no target in the marker saverproof and no one "
            "saver in [tool.saverproof], expected @pytest.mark.saverproof('module:attribute')"
        )
    return saver


def _refuse(line: str) -> NoReturn:
    pytest.fail(line, pytrace=False)
