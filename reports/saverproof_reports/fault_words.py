"""The words for faults and kills: what is done to operations, and what it leaves."""

FAULT_OUTCOMES = {
    "clean": "nothing of the operation was left",
    "held": "the operation is stored whole",
    "torn": "part of the operation was left",
    "lost": "something acknowledged is gone",
    "late": "what failed was stored by a later commit",
    "stuck": "the saver was not usable afterwards",
    "not-fired": "the fault never fired: nothing is known",
}
"""The meaning of each outcome of a fault."""

FAULT_LETTERS = {"torn": "T", "lost": "L", "late": "A", "stuck": "S", "not-fired": "?"}
"""The letter of an outcome in the fault map, for readers who cannot tell its colours apart."""

FAULT_KINDS = {
    "client": "the database driver raises; the database has not failed, and does not know",
    "engine": "the database itself refuses: a constraint, an interrupt, a lock, a full disk",
    "io": "the file system fails: an I/O error, a full disk, half of a write",
    "network": "the connection to the server breaks: a request or an answer is lost",
    "cancellation": "the task that awaits the operation is cancelled",
    "serialization": "a value of the operation cannot be serialized",
    "connection": "every connection is closed before the operation",
    "kill": "the process is killed before the operation",
}
"""Kind of fault -> what fails."""

KILL_KINDS = {
    "statement": "before or after a statement that the database runs, or inside a commit",
    "io": "before a write, sync, truncation, deletion or opening of a file by the database",
    "system call": "before a system call on a file of the store, or in the middle of a write",
    "call": "before or after a call that changes a file, or talks to a server",
    "acknowledged": "when the operation had returned",
    "instant": "at an instant chosen by chance",
    "recovery": "in an operation, and each process that opened the store again, one place later",
    "graph operation": "a whole graph, before or after one of its operations",
}
"""Kind of place -> where a process is killed."""

KILL_LETTERS = {
    "whole": "+",
    "torn": "T",
    "lost": "L",
    "gap": "G",
    "unopened": "U",
    "not-fired": "?",
}
"""The letter of an outcome among the kills, for readers who cannot tell its colours apart."""

POWER_OUTCOMES = {
    "whole": "everything that had been acknowledged is there",
    "lost": "acknowledged operations are gone, the last ones first",
    "torn": "an operation is only partly there",
    "gap": "a later operation survived without an earlier one",
    "unopened": "the store did not open, or failed its check",
}
"""The meaning of what a disk holds after a power cut."""

KILL_OUTCOMES = {
    "absent": "the operation in flight is not there at all",
    "whole": "the operation in flight is there whole",
    "torn": "the operation in flight is only partly there",
    "lost": "an acknowledged operation is gone",
    "gap": "a later operation survived without an earlier one",
    "unopened": "the store did not open, failed its check or took no writes",
    "not-fired": "the kill came too late: nothing is known",
}
"""The meaning of each outcome of a kill."""
