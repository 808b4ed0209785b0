"""What a saver promises: the registry of contracts."""

from saverproof.contracts.registry import (
    FAMILIES,
    Contract,
    Level,
    UnknownContract,
    contract,
    contracts,
    release,
)

__all__ = ["FAMILIES", "Contract", "Level", "UnknownContract", "contract", "contracts", "release"]
