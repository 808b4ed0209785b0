"""Surveys a saver before a machine uses it, by calling each of its operations."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from saverproof.capability import Capability
from saverproof.contracts.applicability import why_inapplicable
from saverproof.contracts.contract import Contract
from saverproof.errors import TargetError
from saverproof.families.machines.suiting import able_of
from saverproof.savers.execution.driver import takes_task_path
from saverproof.savers.facts import APIS, METHODS, Facts
from saverproof.savers.targets.distribution import versions
from saverproof.savers.targets.event_loop import Loop
from saverproof.savers.targets.opening import fresh_workspace, opened
from saverproof.savers.targets.probe_absent import absent_capabilities, apis_of
from saverproof.savers.targets.probe_calls import Prober, find_operations
from saverproof.savers.targets.target import Target


@dataclass(frozen=True, slots=True)
class SaverSurvey:
    """The abilities of a saver: its capabilities and serializer, and whether it takes task paths.

    ``able`` are the capabilities that steps may need.
    """

    facts: Facts
    able: frozenset[str]
    serde: Any
    takes_path: bool

    def applicable(self, contracts: Collection[Contract]) -> list[Contract]:
        """Return the contracts that apply to the saver."""
        return [each for each in contracts if why_inapplicable(each, self.facts) is None]


def survey(target: Target, folder: Path, loop: Loop) -> SaverSurvey:
    """Open the saver on a new workspace, and call each of its operations.

    Raises:
        OpeningError: it could not be opened or closed.
        TargetError: it has no API that may be used.
    """
    with fresh_workspace(folder, target) as workspace, opened(target, workspace, loop) as saver:
        prober = Prober(saver, loop, lambda _: None)
        operations, apis, absent = _tried_out(target, prober)
        serde = getattr(saver, "serde", None)
        method = "aput_writes" if apis == ["async"] else "put_writes"
        takes_path = takes_task_path(getattr(saver, method, None))
    facts = cast(
        Facts,
        {
            "durable": target.durable,
            "apis": apis,
            "operations": operations,
            "capabilities": [str(name) for name in Capability if str(name) not in absent],
            "absent": absent,
            "packages": versions(None),
        },
    )
    return SaverSurvey(facts, able_of(facts, target), serde, takes_path)


def _tried_out(
    target: Target, prober: Prober
) -> tuple[dict[str, list[str]], list[str], dict[str, str]]:
    """Return the operations by API, the APIs to use, and the reason for each absent operation."""
    try:
        operations = find_operations(prober)
        apis = apis_of(target, operations)
        return operations, apis, absent_capabilities(target, prober, operations, apis)
    except TargetError:
        raise
    except Exception:  # noqa: BLE001 - whatever it is, programs meet it again, and tell of it
        return {api: list(METHODS[api]) for api in APIS}, list(APIS), {}
