"""Contracts of an application that finds its checkpoints by a label in their metadata."""

from saverproof import Contract, FamilyTable, Level

KEPT = Contract(
    id="labels/kept",
    level=Level.MUST,
    statement="A label in the metadata of a checkpoint comes back as it was put.",
    source="the invented application, which shows it to its users",
    wrong="labels are kept in lower case",
)
UNUSED = Contract(
    id="labels/unused",
    level=Level.SHOULD,
    statement="Nothing is promised here that this application makes use of.",
    source="the invented application",
    wrong="none",
)
RAISING = Contract(
    id="labels/raising",
    level=Level.SHOULD,
    statement="The check of this promise is broken.",
    source="the invented application",
    wrong="none",
)
TABLE = FamilyTable(
    name="labels",
    title="checkpoints are found by their labels",
    contracts=(KEPT, UNUSED, RAISING),
)
