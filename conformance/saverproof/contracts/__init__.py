"""What a saver promises: the registry of contracts."""

from saverproof.contracts.contract import Contract, Level, release
from saverproof.contracts.registry import FAMILIES, UnknownContract, contract, contracts

__all__ = ["FAMILIES", "Contract", "Level", "UnknownContract", "contract", "contracts", "release"]
