"""Weights of the makers of everyday steps: how often each is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from saverproof.programs.makers import batches, checkpoints, reads
from saverproof.programs.theme import Maker, Theme

Weights: TypeAlias = Mapping[Maker, int]

PUTS: Weights = {checkpoints.put: 12, checkpoints.put_again: 1, checkpoints.put_replacing: 1}
WRITES: Weights = {batches.writes: 8, batches.writes_again: 5, batches.writes_early: 2}
READS: Weights = {reads.get: 6, reads.list_: 4}
GENERAL: Weights = {**PUTS, **WRITES, **READS}
SMALL = Theme("small", threads=("a",), namespaces=("",), length=40)
