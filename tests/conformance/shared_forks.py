"""One process that the runs of all tests have their children from, until the tests end.

To import what a child needs takes longer than most of them live.
"""

from __future__ import annotations

import atexit
import functools
from contextlib import ExitStack

from saverproof.families.requests import JUDGING
from saverproof.process.forks import forks_of
from saverproof.run.scaffold.requests import INSPECTING
from saverproof.savers.targets.requests import PROBING

_UNTIL_THE_END = ExitStack()
atexit.register(_UNTIL_THE_END.close)


@functools.cache
def share_forks() -> None:
    """Have runs that are started from now on find it."""
    _UNTIL_THE_END.enter_context(forks_of((PROBING, JUDGING, INSPECTING)))
