"""The page docs/contracts.md, written by `python -m saverproof.contracts.page`."""

from __future__ import annotations

import sys

from saverproof.contracts.applicability import conditions
from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.registry import TABLES
from saverproof_reports.markup import links

_INTRODUCTION = """\
# The contracts

<!-- Generated: python -m saverproof.contracts.page > docs/contracts.md -->

What a LangGraph checkpointer promises, each promise as one statement that saverproof judges. A
contract's id is what reports, reproducers and known-violations files call it by.

- **must**: the base class documents it, LangGraph's own loop relies on it, every official saver
  agrees on it, or breaking it loses, repeats or blocks work that a user was told is done. A breach
  fails the run.
- **should**: good savers do it, and official ones differ. A breach is reported as advice and
  never fails a run.

A contract applies only if the saver has what the contract needs and the installed
langgraph-checkpoint knows the promise. Each ends with one of the verdicts `held` (judged at least
once, never broken), `violated`, `known` (violated, and listed as known), `unknown` (the search was
cut off), `not-exercised` (nothing in this run reached it, or the kit has no
way to look at all of it) or `not-applicable`. Only `held` is a
pass.

What is said here of mending a saver is advice: any way that keeps the promise is right.
"""


def render() -> str:
    """Return the whole page as Markdown, ending in a newline."""
    parts = [_INTRODUCTION, _overview()]
    for table in TABLES:
        parts.append(f"## {table.name}\n\n{table.title[:1].upper()}{table.title[1:]}.\n")
        parts.extend(_entry(contract) for contract in table.contracts)
    return "\n".join(parts)


def _overview() -> str:
    rows = ["| family | must | should |", "|---|---:|---:|"]
    for table in TABLES:
        levels = [contract.level for contract in table.contracts]
        must, should = levels.count(Level.MUST), levels.count(Level.SHOULD)
        rows.append(f"| [{table.name}](#{table.name}) | {must} | {should} |")
    return "\n".join(rows) + "\n"


def _entry(contract: Contract) -> str:
    lines = [f"### {contract.id}", "", f"**{contract.level}**: {contract.statement}", ""]
    if contract.matters:
        lines.append(f"- **Why it matters:** {contract.matters}")
    lines.append(f"- **A mistake that it catches:** {contract.wrong}")
    if contract.fix:
        lines.append(f"- **How to fix it:** {contract.fix}")
    lines.append(f"- **Source:** {with_links(contract.source)}")
    if applies := conditions(contract):
        lines.append(f"- **Applies:** {applies}")
    return "\n".join(lines) + "\n"


def with_links(source: str) -> str:
    """Return a source as Markdown, with links for the issues and advisories that it names."""
    return "".join(f"[{part}]({link})" if link else part for part, link in links(source))


if __name__ == "__main__":
    sys.stdout.write(render())
