"""The promises of savers: the registry of contracts."""

from saverproof.contracts.contract import Contract, Level, release
from saverproof.contracts.registry import UnknownContract, contract, contracts, families

__all__ = ["Contract", "Level", "UnknownContract", "contract", "contracts", "families", "release"]
