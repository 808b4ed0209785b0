"""How often the makers of everyday steps are asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from saverproof.programs import asking, making
from saverproof.programs.theme import Maker, Theme

Weights: TypeAlias = Mapping[Maker, int]

PUTS: Weights = {making.put: 12, making.put_again: 1, making.put_replacing: 1}
WRITES: Weights = {making.writes: 8, making.writes_again: 5, making.writes_early: 2}
READS: Weights = {asking.get: 6, asking.list_: 4}
GENERAL: Weights = {**PUTS, **WRITES, **READS}
SMALL = Theme("small", threads=("a",), namespaces=("",), length=40)
