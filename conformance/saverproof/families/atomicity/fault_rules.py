"""The rules of the machine of faults: operations, and ways in which the next operation fails."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Protocol

from hypothesis.stateful import precondition
from hypothesis.stateful import rule as hypothesis_rule

from saverproof.families.atomicity.programs import random_programs
from saverproof.families.atomicity.programs.random_programs import FaultMaker
from saverproof.families.machines.choices import SEEDS, SeededChoices
from saverproof.families.machines.rules import step_rule
from saverproof.programs.makers import batches, checkpoints, whole_threads


class FailsCalls(Protocol):
    """A machine that fails its next call."""

    choices: SeededChoices

    def fail_next(self, maker: FaultMaker, choose: Random) -> None:
        """Fail the next call with a fault that the maker makes."""
        ...

    def can_fail(self, kind: str) -> bool:
        """Return whether the next call can be made to fail by this kind of fault."""
        ...


def fault_rule(maker: FaultMaker, kind: str = "client") -> Callable[..., None]:
    """Return a rule that makes the next call fail; bind it to a class attribute.

    ``maker`` makes the fault from a ``random.Random``. ``kind`` is what the fault needs: "client"
    (a driver whose calls are seen), "engine" (SQLite), "disk" (SQLite's files), "files" (those of
    any other store), "network", "cancel", "connection", "kill", "kill-inside".
    """

    def fail(self: FailsCalls, seed: int) -> None:
        __tracebackhide__ = True
        self.fail_next(maker, self.choices.of(seed))

    def can(self: FailsCalls) -> bool:
        return self.can_fail(kind)

    fail.__doc__ = maker.__doc__
    fail.__name__ = maker.__name__
    ruled: Callable[..., None] = precondition(can)(hypothesis_rule(seed=SEEDS)(fail))
    return ruled


class FaultRules:
    """The rules of a machine of faults by their names, without those of outages."""

    put = step_rule(checkpoints.put)
    put_replacing = step_rule(checkpoints.put_replacing)
    writes = step_rule(batches.writes)
    writes_again = step_rule(batches.writes_again)
    writes_special = step_rule(batches.writes_special)
    delete_thread = step_rule(whole_threads.delete_thread)
    copy_thread = step_rule(whole_threads.copy_thread)
    prune = step_rule(whole_threads.prune_to_latest)

    a_statement_fails = fault_rule(random_programs.statement_fails)
    an_early_statement_fails = fault_rule(random_programs.early_statement_fails)
    a_commit_fails = fault_rule(random_programs.commit_fails)
    the_engine_refuses = fault_rule(random_programs.engine_refuses, "engine")
    the_disk_fails = fault_rule(random_programs.disk_fails, "disk")
    the_disk_is_full = fault_rule(random_programs.disk_is_full, "disk")
    a_call_on_a_file_fails = fault_rule(random_programs.call_on_a_file_fails, "files")
    a_message_is_lost = fault_rule(random_programs.message_is_lost, "network")
    the_call_is_cancelled = fault_rule(random_programs.call_is_cancelled, "cancel")
    the_connection_is_lost = fault_rule(random_programs.connection_is_lost, "connection")
    the_process_is_killed = fault_rule(random_programs.process_is_killed, "kill")
    the_process_is_killed_inside = fault_rule(
        random_programs.process_is_killed_inside, "kill-inside"
    )
