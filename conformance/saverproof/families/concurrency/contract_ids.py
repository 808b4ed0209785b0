"""The contracts of the family, by short names."""

from __future__ import annotations

from saverproof.contracts.tables import concurrency

THREADS = concurrency.THREADS_LOSE_NOTHING.id
PROCESSES = concurrency.PROCESSES_LOSE_NOTHING.id
TORN = concurrency.NO_TORN_READS.id
INSTANCES = concurrency.INSTANCES_AGREE.id
ORDER = concurrency.LINEARIZABLE.id
ITERATION = concurrency.ITERATION_DOES_NOT_BLOCK.id
NOTHING = concurrency.READS_CHANGE_NOTHING.id
FIRST = concurrency.FIRST_USE_RACE.id
PRUNE = concurrency.PRUNE_SPARES_LIVE_RUNS.id
COPY = concurrency.COPY_OF_ONE_MOMENT.id
DELETION = concurrency.DELETION_IS_WHOLE.id
LATE = concurrency.LATE_WRITER.id
LOOP = concurrency.LOOP_GOES_ON.id
