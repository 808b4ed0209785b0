"""The state machine of each family that is judged by programs."""

from __future__ import annotations

from collections.abc import Mapping

from saverproof.families.machines import of_contents, of_stores
from saverproof.families.machines.machine import SaverMachine

MACHINES: Mapping[str, type[SaverMachine]] = {
    "interface": of_stores.InterfaceMachine,
    "ordering": of_contents.OrderingMachine,
    "upsert": of_contents.UpsertMachine,
    "pending-writes": of_contents.PendingWritesMachine,
    "identity": of_contents.IdentityMachine,
    "serialization": of_contents.SerializationMachine,
    "channels": of_contents.ChannelsMachine,
    "isolation": of_stores.IsolationMachine,
    "filter": of_stores.FilterMachine,
    "deletion": of_stores.DeletionMachine,
    "delta-history": of_stores.DeltaHistoryMachine,
    "parity": of_stores.ParityMachine,
    "lifecycle": of_stores.LifecycleMachine,
}

FUNCTIONAL_FAMILIES = tuple(MACHINES)
