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
    from saverproof.errors import SaverproofError as SaverproofError
    from saverproof.machines.machine import ContractBroken as ContractBroken
    from saverproof.machines.machine import SaverMachine as SaverMachine
    from saverproof.targets.target import Target as Target
    from saverproof.targets.target import target as target
    from saverproof.workspace import Workspace as Workspace

_HOME = {
    "Capability": "saverproof.capability",
    "Contract": "saverproof.contracts.contract",
    "ContractBroken": "saverproof.machines.machine",
    "SaverMachine": "saverproof.machines.machine",
    "SaverproofError": "saverproof.errors",
    "Target": "saverproof.targets.target",
    "Workspace": "saverproof.workspace",
    "target": "saverproof.targets.target",
}

__all__ = [
    "Capability",
    "Contract",
    "ContractBroken",
    "SaverMachine",
    "SaverproofError",
    "Target",
    "Workspace",
    "target",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'saverproof' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
