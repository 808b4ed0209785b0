"""The contracts of the family, by short names."""

THREADS = "concurrency/threads-lose-nothing"
PROCESSES = "concurrency/processes-lose-nothing"
TORN = "concurrency/no-torn-reads"
ORDER = "concurrency/linearizable"
ITERATION = "concurrency/iteration-does-not-block"
NOTHING = "concurrency/reads-change-nothing"
FIRST = "concurrency/first-use-race"
