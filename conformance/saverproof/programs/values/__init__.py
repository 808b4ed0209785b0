"""Values that programs store: their catalogue, exact comparison, and display."""

from saverproof.programs.values.catalogue import CATALOGUE, GROUPS, kinds
from saverproof.programs.values.comparison import same
from saverproof.programs.values.difference import difference
from saverproof.programs.values.kind import Kind, Seed
from saverproof.programs.values.rendering import show, show_in_order
from saverproof.programs.values.serializing import refuses, roundtrips
from saverproof.programs.values.value import Value, values

__all__ = [
    "CATALOGUE",
    "GROUPS",
    "Kind",
    "Seed",
    "Value",
    "difference",
    "kinds",
    "refuses",
    "roundtrips",
    "same",
    "show",
    "show_in_order",
    "values",
]
