"""Judges without programs: a saver's operations, their signatures, and its workspaces."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from saverproof.contracts.tables import interface, isolation, pending_writes
from saverproof.families.items import Finding
from saverproof.mistakes import MISTAKES
from saverproof.savers.facts import Facts
from saverproof.savers.targets.target import Target
from saverproof.scripts import operation_reproducer, signature_reproducer

COMPLETE = interface.COMPLETE.id
TASK_PATH = pending_writes.ACCEPTS_TASK_PATH.id
WORKSPACES = isolation.WORKSPACES.id
BASE = ("put", "put_writes", "get_tuple", "list", "delete_thread")


@dataclass(slots=True)
class Standing:
    """The number of times that each contract was judged without a program, and the findings."""

    checked: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def judge_standing(
    facts: Facts, api: str, target: Target, wanted: frozenset[str], *, takes_path: bool
) -> Standing:
    """Judge the contracts on which operations exist and which parameters they have."""
    standing = Standing()
    if COMPLETE in wanted:
        standing.checked[COMPLETE] = len(BASE)
        standing.findings += _of_operations(facts, api, target)
    if WORKSPACES in wanted and "shares" in facts:
        standing.checked[WORKSPACES] = 1
        if shared := facts["shares"]:
            said = f"two workspaces share a store: {shared}"
            found = _finding(WORKSPACES, api, said, "nothing of another workspace", shared)
            standing.findings.append(found)
    if TASK_PATH in wanted:
        standing.checked[TASK_PATH] = 1
        if not takes_path:
            standing.findings.append(_of_task_path(api, target))
    return standing


def _of_operations(facts: Facts, api: str, target: Target) -> list[Finding]:
    there = {name for names in facts["operations"].values() for name in names}
    missing = [name for name in BASE if name not in there]
    if not missing:
        return []
    said, found = f"there is no {', '.join(missing)}", ", ".join(n for n in BASE if n in there)
    script = operation_reproducer(target, missing[0], api, name=COMPLETE)
    return [_finding(COMPLETE, api, said, ", ".join(BASE), found, script)]


def _of_task_path(api: str, target: Target) -> Finding:
    method = "aput_writes" if api == "async" else "put_writes"
    found = _finding(
        TASK_PATH,
        api,
        f"{method} has no parameter named task_path",
        f"{method}(config, writes, task_id, task_path)",
        f"{method} without task_path",
        signature_reproducer(target, api, name=TASK_PATH),
    )
    # LangGraph leaves the path out for any signature without it, so that graphs suffer alike.
    mistake = next(one.note for one in MISTAKES if one.breaks == TASK_PATH)
    return replace(found, mistake=mistake, mistake_of=TASK_PATH)


def _finding(
    contract: str, api: str, said: str, expected: str, observed: str, script: str = ""
) -> Finding:
    """Return a finding that has no program."""
    return Finding(contract, api, "functional", said, expected, observed, (), [], script)
