"""One process that the runs of all tests have their children from, until the tests end.

To import what a child needs takes longer than most of them live.
"""

from __future__ import annotations

import atexit
import functools
from contextlib import ExitStack
from pathlib import Path

import pytest

from saverproof.families.requests import JUDGING
from saverproof.process.forks import forks_of
from saverproof.process.requests import Service
from saverproof.run.scaffold.requests import INSPECTING
from saverproof.savers.targets.requests import PROBING

FAKE_JUDGING = Service("fake_judging")
"""Not below ``tests``: projects of tests have a package of that name, too."""
SERVICES = Path(__file__).with_name("services")
"""The folder that it is found in."""
_UNTIL_THE_END = ExitStack()
atexit.register(_UNTIL_THE_END.close)


@functools.cache
def share_forks() -> None:
    """Have runs that are started from now on find it."""
    services = (PROBING, JUDGING, INSPECTING, FAKE_JUDGING)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(SERVICES))
        _UNTIL_THE_END.enter_context(forks_of(services))
