"""Lists the modules whose functions run in processes of their own."""

from saverproof.families.durability.graphs import graph_child
from saverproof.families.durability.kills import child
from saverproof.families.durability.power import power_child

CHILDREN = (child, graph_child, power_child)
