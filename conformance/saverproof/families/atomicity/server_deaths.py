"""When the server of a saver is killed, while the saver lives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from saverproof.families.atomicity.bench import FaultBench
from saverproof.families.atomicity.fault_plans import Injection, deaths_in, thinned
from saverproof.families.atomicity.sweep import FaultSweep
from saverproof.families.tally import Tally
from saverproof.steps.definitions import SetUp
from saverproof_faults.servers import ServerUnavailable

_OF_ONE = 4
"""In one operation: before it, and around some of its messages."""


@contextmanager
def server_deaths(
    bench: FaultBench, sweeps: Sequence[FaultSweep], most: int, tally: Tally
) -> Iterator[list[tuple[FaultSweep, Injection]]]:
    """So many deaths; in the block, the bench has a server that may die so.

    There are none, and a note says why, if it cannot be killed.
    """
    kind = bench.target.server
    able = [one for one in sweeps if one.clean is None and not isinstance(one.scenario.step, SetUp)]
    if kind is None or not able or not most:
        yield []
        return
    chosen = [
        (sweep, death)
        for sweep in thinned(able, most // _OF_ONE)
        for death in deaths_in(sweep.counted.places, _OF_ONE)
    ]
    with ExitStack() as stack:
        try:
            stack.enter_context(bench.mortal_server())
        except ServerUnavailable as reason:
            tally.note(f"{kind.title} was not killed: {reason}")
            chosen = []
        yield chosen
