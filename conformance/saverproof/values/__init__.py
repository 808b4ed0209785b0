"""Values that programs store: their catalogue, exact comparison, and display."""

from saverproof.values.catalogue import CATALOGUE, GROUPS, kinds
from saverproof.values.comparison import same
from saverproof.values.difference import difference
from saverproof.values.kind import Kind, Seed
from saverproof.values.rendering import show
from saverproof.values.serializing import refuses, roundtrips
from saverproof.values.value import Value, values

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
    "values",
]
