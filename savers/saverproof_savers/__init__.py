"""SQLite checkpoint savers for LangGraph, which work without the test kit."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saverproof_savers.errors import SchemaError as SchemaError
    from saverproof_savers.errors import UndecodableError as UndecodableError
    from saverproof_savers.importing import Imported as Imported
    from saverproof_savers.importing import ImportMismatchError as ImportMismatchError
    from saverproof_savers.importing import import_official as import_official
    from saverproof_savers.json_serde import JsonFirstSerializer as JsonFirstSerializer
    from saverproof_savers.saver import SqliteSaver as SqliteSaver
    from saverproof_savers.schema import TableNames as TableNames
    from saverproof_savers.snapshot import SnapshotSqliteSaver as SnapshotSqliteSaver

# Imported on first use: naming the package must not cost an import of LangGraph.
_HOME = {
    "ImportMismatchError": "saverproof_savers.importing",
    "Imported": "saverproof_savers.importing",
    "JsonFirstSerializer": "saverproof_savers.json_serde",
    "SchemaError": "saverproof_savers.errors",
    "SnapshotSqliteSaver": "saverproof_savers.snapshot",
    "SqliteSaver": "saverproof_savers.saver",
    "TableNames": "saverproof_savers.schema",
    "UndecodableError": "saverproof_savers.errors",
    "import_official": "saverproof_savers.importing",
}

__all__ = [
    "ImportMismatchError",
    "Imported",
    "JsonFirstSerializer",
    "SchemaError",
    "SnapshotSqliteSaver",
    "SqliteSaver",
    "TableNames",
    "UndecodableError",
    "import_official",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'saverproof_savers' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
