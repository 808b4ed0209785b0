"""What a LangGraph checkpointer promises, and how it is judged.

The names below are for authors of savers. They are imported on first use, because pytest loads this
package in every project in which saverproof is installed, and such a project must not pay for
LangGraph.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saverproof.capability import Capability as Capability
    from saverproof.contracts.contract import Contract as Contract
    from saverproof.contracts.contract import Level as Level
    from saverproof.contracts.family_table import FamilyTable as FamilyTable
    from saverproof.errors import SaverproofError as SaverproofError
    from saverproof.families.atomicity.fault_rules import fault_rule as fault_rule
    from saverproof.families.atomicity.machine import AtomicityMachine as AtomicityMachine
    from saverproof.families.checks import CheckContext as CheckContext
    from saverproof.families.checks import CheckFamily as CheckFamily
    from saverproof.families.machines.broken import ContractBroken as ContractBroken
    from saverproof.families.machines.draws import booleans as booleans
    from saverproof.families.machines.draws import checkpoints as checkpoints
    from saverproof.families.machines.draws import integers as integers
    from saverproof.families.machines.draws import sampled_from as sampled_from
    from saverproof.families.machines.draws import tasks as tasks
    from saverproof.families.machines.draws import threads as threads
    from saverproof.families.machines.machine import SaverMachine as SaverMachine
    from saverproof.families.machines.of_contents import ChannelsMachine as ChannelsMachine
    from saverproof.families.machines.of_contents import IdentityMachine as IdentityMachine
    from saverproof.families.machines.of_contents import OrderingMachine as OrderingMachine
    from saverproof.families.machines.of_contents import (
        PendingWritesMachine as PendingWritesMachine,
    )
    from saverproof.families.machines.of_contents import (
        SerializationMachine as SerializationMachine,
    )
    from saverproof.families.machines.of_contents import UpsertMachine as UpsertMachine
    from saverproof.families.machines.of_stores import DeletionMachine as DeletionMachine
    from saverproof.families.machines.of_stores import DeltaHistoryMachine as DeltaHistoryMachine
    from saverproof.families.machines.of_stores import FilterMachine as FilterMachine
    from saverproof.families.machines.of_stores import InterfaceMachine as InterfaceMachine
    from saverproof.families.machines.of_stores import IsolationMachine as IsolationMachine
    from saverproof.families.machines.of_stores import LifecycleMachine as LifecycleMachine
    from saverproof.families.machines.of_stores import ParityMachine as ParityMachine
    from saverproof.families.machines.own_rules import invariant as invariant
    from saverproof.families.machines.own_rules import rule as rule
    from saverproof.families.machines.rules import step_rule as step_rule
    from saverproof.run.from_python import Report as Report
    from saverproof.run.from_python import judge as judge
    from saverproof.savers.targets.expiry import Expiry as Expiry
    from saverproof.savers.targets.target import Target as Target
    from saverproof.savers.targets.target import target as target
    from saverproof.savers.workspace import Workspace as Workspace
    from saverproof_faults.servers.kinds import Places as Places
    from saverproof_faults.servers.kinds import ServerKind as ServerKind
    from saverproof_faults.servers.mariadb_places import MariaDB as MariaDB
    from saverproof_faults.servers.pgbouncer_places import PgBouncer as PgBouncer
    from saverproof_faults.servers.postgres_places import Postgres as Postgres
    from saverproof_faults.servers.postgres_schemas import PgBouncerSchemas as PgBouncerSchemas
    from saverproof_faults.servers.postgres_schemas import PostgresSchemas as PostgresSchemas
    from saverproof_faults.servers.redis_places import Redis as Redis
    from saverproof_faults.servers.redis_places import Valkey as Valkey
    from saverproof_faults.servers.redis_stack import RedisStack as RedisStack
    from saverproof_faults.servers.server import ServerUnavailable as ServerUnavailable

_HOME = {
    "ServerUnavailable": "saverproof_faults.servers.server",
    "Places": "saverproof_faults.servers.kinds",
    "ServerKind": "saverproof_faults.servers.kinds",
    "RedisStack": "saverproof_faults.servers.redis_stack",
    "Valkey": "saverproof_faults.servers.redis_places",
    "Redis": "saverproof_faults.servers.redis_places",
    "PgBouncerSchemas": "saverproof_faults.servers.postgres_schemas",
    "PgBouncer": "saverproof_faults.servers.pgbouncer_places",
    "PostgresSchemas": "saverproof_faults.servers.postgres_schemas",
    "Postgres": "saverproof_faults.servers.postgres_places",
    "MariaDB": "saverproof_faults.servers.mariadb_places",
    "AtomicityMachine": "saverproof.families.atomicity.machine",
    "fault_rule": "saverproof.families.atomicity.fault_rules",
    "Capability": "saverproof.capability",
    "ChannelsMachine": "saverproof.families.machines.of_contents",
    "CheckContext": "saverproof.families.checks",
    "CheckFamily": "saverproof.families.checks",
    "Contract": "saverproof.contracts.contract",
    "Expiry": "saverproof.savers.targets.expiry",
    "FamilyTable": "saverproof.contracts.family_table",
    "Level": "saverproof.contracts.contract",
    "ContractBroken": "saverproof.families.machines.broken",
    "DeletionMachine": "saverproof.families.machines.of_stores",
    "DeltaHistoryMachine": "saverproof.families.machines.of_stores",
    "FilterMachine": "saverproof.families.machines.of_stores",
    "IdentityMachine": "saverproof.families.machines.of_contents",
    "InterfaceMachine": "saverproof.families.machines.of_stores",
    "IsolationMachine": "saverproof.families.machines.of_stores",
    "LifecycleMachine": "saverproof.families.machines.of_stores",
    "OrderingMachine": "saverproof.families.machines.of_contents",
    "ParityMachine": "saverproof.families.machines.of_stores",
    "PendingWritesMachine": "saverproof.families.machines.of_contents",
    "Report": "saverproof.run.from_python",
    "SaverMachine": "saverproof.families.machines.machine",
    "SaverproofError": "saverproof.errors",
    "SerializationMachine": "saverproof.families.machines.of_contents",
    "Target": "saverproof.savers.targets.target",
    "UpsertMachine": "saverproof.families.machines.of_contents",
    "Workspace": "saverproof.savers.workspace",
    "booleans": "saverproof.families.machines.draws",
    "checkpoints": "saverproof.families.machines.draws",
    "integers": "saverproof.families.machines.draws",
    "invariant": "saverproof.families.machines.own_rules",
    "judge": "saverproof.run.from_python",
    "rule": "saverproof.families.machines.own_rules",
    "sampled_from": "saverproof.families.machines.draws",
    "step_rule": "saverproof.families.machines.rules",
    "target": "saverproof.savers.targets.target",
    "tasks": "saverproof.families.machines.draws",
    "threads": "saverproof.families.machines.draws",
}

__all__ = [
    "AtomicityMachine",
    "Capability",
    "ChannelsMachine",
    "CheckContext",
    "CheckFamily",
    "Contract",
    "ContractBroken",
    "DeletionMachine",
    "DeltaHistoryMachine",
    "Expiry",
    "FamilyTable",
    "FilterMachine",
    "IdentityMachine",
    "InterfaceMachine",
    "IsolationMachine",
    "Level",
    "LifecycleMachine",
    "MariaDB",
    "OrderingMachine",
    "ParityMachine",
    "PendingWritesMachine",
    "PgBouncer",
    "PgBouncerSchemas",
    "Places",
    "Postgres",
    "PostgresSchemas",
    "Redis",
    "RedisStack",
    "Report",
    "SaverMachine",
    "SaverproofError",
    "SerializationMachine",
    "ServerKind",
    "ServerUnavailable",
    "Target",
    "UpsertMachine",
    "Valkey",
    "Workspace",
    "booleans",
    "checkpoints",
    "fault_rule",
    "integers",
    "invariant",
    "judge",
    "rule",
    "sampled_from",
    "step_rule",
    "target",
    "tasks",
    "threads",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'saverproof' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
