"""What runs of pytest and of the command line are forked from: it has run pytest once, on nothing.

To import what each of hundreds of runs needs takes longer than most of them.
"""

from __future__ import annotations

import contextlib
import io
import os

import pytest
from tests.conformance import forked_runs

import saverproof.run.cli
import saverproof.run.plugin.starting
from saverproof.process.scratch import in_memory, scratch_folder
from saverproof_reports.page import templates

__all__ = ["forked_runs", "saverproof"]

# Pytest would warn that it came too late to rewrite the assertions of what runs this.
saverproof.__doc__ = f"{saverproof.__doc__} PYTEST_DONT_REWRITE"
with scratch_folder(root=in_memory()) as _nothing, contextlib.redirect_stdout(io.StringIO()):
    # Plugins that pytest has not imported itself it would warn of, too. That of xdist keeps the
    # path that it finds when it is imported.
    without = [*forked_runs.SLOW_PLUGINS, "-p", "no:xdist", "-p", "no:xdist.looponfail"]
    pytest.main([*without, "-s", "-c", os.devnull, str(_nothing)])

# Each run would compile them for its report.
for _name in templates().list_templates(extensions=["j2"]):
    templates().get_template(_name)
