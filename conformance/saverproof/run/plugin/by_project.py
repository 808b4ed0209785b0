"""Start the run that the project's table ``[tool.saverproof]`` asks for.

It counts if the command line names no saver.
"""

import copy

import pytest

from saverproof.run.plugin import suite_only
from saverproof.run.project.options import ProjectTableError, project_options
from saverproof.run.project.table import ProjectTable

BY_PROJECT = pytest.StashKey[bool]()
"""Set if the project's table, and not the command line, asks for the run."""


def add_project_options(
    table: ProjectTable, config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> None:
    """Put the table's options before those on the command line, which take precedence.

    Raises:
        pytest.UsageError: the table cannot be used; the message is one line.
    """
    try:
        told = project_options(table, config.invocation_params.dir)
    except ProjectTableError as error:
        raise pytest.UsageError(error.message) from error
    args[:0] = told
    config.stash[BY_PROJECT] = True
    config.known_args_namespace = parser.parse_known_args(args, namespace=copy.copy(config.option))
    if suite_only.typed_files(config, parser):
        suite_only.redirect(config, parser, args)
