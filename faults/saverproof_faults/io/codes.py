"""The result codes and flags of SQLite that the shim uses (https://sqlite.org/rescode.html)."""

OK = 0
IOERR = 10
FULL = 13
CANTOPEN = 14
IOERR_WRITE = 778
IOERR_FSYNC = 1034
IOERR_TRUNCATE = 1546
IOERR_DELETE = 2570

OPEN_CREATE = 0x4
OPEN_JOURNALS = 0x800 | 0x4000 | 0x80000
"""The flags of xOpen for a rollback journal, a super-journal and a write-ahead log."""

SYNC_DIRECTORY = 0x1
"""The bit of xDelete's last argument that asks to sync the folder as well."""
