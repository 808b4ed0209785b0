"""What can be said of a saver without running a program: its operations and their signatures."""

from __future__ import annotations

from dataclasses import dataclass, field

from saverproof.items import Finding, Plan
from saverproof.scripts import operation_reproducer
from saverproof.targets.target import Target

BASE = ("put", "put_writes", "get_tuple", "list", "delete_thread")


@dataclass(slots=True)
class Standing:
    """How often the contracts concerned were judged, and what was found."""

    checked: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def judge_standing(
    plan: Plan, target: Target, wanted: frozenset[str], *, takes_path: bool
) -> Standing:
    """Judge the contracts on which operations there are and which parameters they have."""
    standing = Standing()
    operations = plan.facts["operations"]
    if "interface/complete" in wanted:
        standing.checked["interface/complete"] = len(BASE)
        there = {name for names in operations.values() for name in names}
        missing = [name for name in BASE if name not in there]
        if missing:
            standing.findings.append(
                Finding(
                    "interface/complete",
                    plan.api,
                    "functional",
                    f"there is no {', '.join(missing)}",
                    ", ".join(BASE),
                    ", ".join(name for name in BASE if name in there),
                    (),
                    [],
                    operation_reproducer(target, missing[0], plan.api, name="interface/complete"),
                )
            )
    if "pending-writes/accepts-task-path" in wanted:
        standing.checked["pending-writes/accepts-task-path"] = 1
        if not takes_path:
            method = "aput_writes" if plan.api == "async" else "put_writes"
            contract = "pending-writes/accepts-task-path"
            standing.findings.append(
                Finding(
                    contract,
                    plan.api,
                    "functional",
                    f"{method} has no parameter named task_path",
                    f"{method}(config, writes, task_id, task_path)",
                    f"{method} without task_path",
                    (),
                    [],
                    operation_reproducer(target, "task_path", plan.api, name=contract),
                )
            )
    return standing
