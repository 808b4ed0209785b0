"""The abilities that a saver may have or lack."""

from enum import StrEnum


class Capability(StrEnum):
    """An ability that some savers have and others lack.

    Each is found by calling the saver, so that a method that only raises NotImplementedError counts
    as absent. A target may decline one, with a reason: ``target(capabilities={Capability.PRUNE:
    "not planned"})``.
    """

    SYNC = "sync"
    """put, put_writes, get_tuple and list work."""
    ASYNC = "async"
    """aput, aput_writes, aget_tuple and alist work."""
    DELETE_THREAD = "delete_thread"
    DELETE_FOR_RUNS = "delete_for_runs"
    COPY_THREAD = "copy_thread"
    PRUNE = "prune"
    DELTA_HISTORY = "delta_history"
    """get_delta_channel_history works."""
    HISTORY = "history"
    """Older checkpoints of a thread can still be read."""
    SERIALIZER = "serializer"
    """Values pass through ``saver.serde``, even if another one is assigned after opening."""
    MANY_PROCESSES = "many_processes"
    """A second process may open the store while the first has it open."""
    EARLY_WRITES = "early_writes"
    """Pending writes may arrive before their checkpoint."""
    LARGE = "large"
    """Thousands of checkpoints in a thread, and of writes in a batch, are stored in seconds."""
    SEPARATE_RECORDS = "separate_records"
    """A checkpoint is stored and read without the rest of its thread."""
    EXPIRY = "expiry"
    """What nobody uses expires after a time, and the target says how that time is made to pass."""
