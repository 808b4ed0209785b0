"""Lists the modules whose functions run in processes of their own."""

from saverproof.families.concurrency.callers import child
from saverproof.families.concurrency.graphs import calls_elsewhere, tidied_graphs
from saverproof.families.concurrency.held import (
    changes_elsewhere,
    held_reads,
    read_again,
    stopped_reads,
)
from saverproof.families.concurrency.histories import lockheld
from saverproof.families.concurrency.scenes import (
    crossing_calls,
    firstuse,
    instances,
    iteration,
    late,
    overtaken,
    read_side_effects,
    waiting,
)

CHILDREN = (
    calls_elsewhere,
    changes_elsewhere,
    child,
    crossing_calls,
    firstuse,
    held_reads,
    instances,
    iteration,
    late,
    lockheld,
    overtaken,
    read_again,
    read_side_effects,
    stopped_reads,
    tidied_graphs,
    waiting,
)
