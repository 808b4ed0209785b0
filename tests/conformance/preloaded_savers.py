"""What the process that trials of wrong savers are forked from imports, for all of them at once."""

from __future__ import annotations

import tempfile

from tests.conformance import crash_savers

from saverproof.families.durability import child, graph_child, power_child
from saverproof.families.preloading import preload
from saverproof.targets.reference import TargetRef

__all__ = ["child", "crash_savers", "graph_child", "power_child"]

_WHERE = "tests.conformance.crash_savers:commit_every_third"

with tempfile.TemporaryDirectory() as _scratch:
    _module, _, _attribute = _WHERE.partition(":")
    preload(TargetRef(_WHERE, _module, None, _attribute).to_json(), ("sync", "async"), _scratch)
