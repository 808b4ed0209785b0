"""What the process that trials of wrong savers are forked from imports, for all of them at once."""

from __future__ import annotations

from tests.conformance.concurrency import (
    alone_wrong_savers,
    concurrent_savers,
    test_concurrency,
    test_concurrency_elsewhere,
    test_concurrency_graphs,
    test_concurrency_instances,
    test_concurrency_loops,
    upkeep_savers,
)
from tests.conformance.durability import (
    crash_savers,
    test_durability,
    test_durability_files,
    test_durability_syncs,
)

from saverproof.families.concurrency.callers import child as concurrency_child
from saverproof.families.durability.graphs import graph_child
from saverproof.families.durability.kills import child
from saverproof.families.durability.power import power_child
from saverproof.families.preloading import preload
from saverproof.process.scratch import in_memory, scratch_folder
from saverproof.savers.targets.reference import TargetRef

__all__ = [
    "alone_wrong_savers",
    "child",
    "concurrency_child",
    "concurrent_savers",
    "crash_savers",
    "graph_child",
    "power_child",
    "test_concurrency",
    "test_concurrency_elsewhere",
    "test_concurrency_graphs",
    "test_concurrency_instances",
    "test_concurrency_loops",
    "test_durability",
    "test_durability_files",
    "test_durability_syncs",
    "upkeep_savers",
]

_ONE = TargetRef("one of them", crash_savers.__name__, None, "commit_every_third")

# What is left of it when this process is killed meanwhile, the next run removes.
with scratch_folder(root=in_memory()) as _scratch:
    preload(_ONE.to_json(), ("sync", "async"), str(_scratch))
