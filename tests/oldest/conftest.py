"""Some savers are released for old versions alone."""

from importlib.metadata import version

from saverproof.contracts import release

# langgraph-checkpoint-duckdb needs langgraph-checkpoint below 3; `make oldest` has it.
collect_ignore = (
    ["test_duckdb.py"] if release(version("langgraph-checkpoint")) >= release("3") else []
)
