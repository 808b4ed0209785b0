"""The page docs/peer.md, written by `python -m saverproof.run.peer.page`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from saverproof.contracts.registry import contracts
from saverproof.mistakes import MISTAKES
from saverproof.run.peer.crosswalk import CROSSWALK, FAILED_BY, UNRELEASED

_INTRODUCTION = """\
# LangGraph's own suite

<!-- Generated: python -m saverproof.run.peer.page > docs/peer.md -->

LangChain's guide asks authors of savers to validate against `langgraph-checkpoint-conformance`.
saverproof runs it, as it is installed, on any target, through the sync API as well, and tells its
verdict in its own words:

```sh
saverproof peer sqlite
```

```text
langgraph-checkpoint-conformance 0.0.2 on sqlite
  sync   FULL (8/8), 81 of 81 tests passed, by a bridge to the async API that it calls
  async  FULL (8/8), 81 of 81 tests passed
```

The suite calls async operations alone. A saver's sync API is put behind them for it; only what
the saver itself implements is offered. FULL means that every capability which the suite detected
passed, BASE+PARTIAL that those did which each saver must have.

## What each of its tests asks

Each test is one example. The contracts beside it ask the same of programs that are searched for.
"""

_UNRELEASED = """\
## What the tests of its main branch ask

No release has these eight yet, all of them about `get_delta_channel_history`. Each has a contract
that asks the same, and a known mistake that fails the test and is found by the contract.
"""


def render() -> str:
    """Return the whole page as Markdown, ending in a newline."""
    rows = ["| test | contracts |", "|---|---|"]
    rows += [f"| `{test}` | {_links(names)} |" for test, names in CROSSWALK.items()]
    return "\n".join([_INTRODUCTION, *rows, "", *_unreleased(), "", _beyond()]) + "\n"


def _unreleased() -> list[str]:
    """Return the section on tests that no release of the suite has, as lines of Markdown."""
    notes = {mistake.name: mistake.note for mistake in MISTAKES}
    rows = ["| test | contracts | a mistake that fails it |", "|---|---|---|"]
    rows += [
        f"| `{test}` | {_links(names)} | {notes[FAILED_BY[test]]} |"
        for test, names in UNRELEASED.items()
    ]
    return [_UNRELEASED, *rows]


def _links(names: Sequence[str]) -> str:
    return ", ".join(_link(name) for name in names)


def _link(name: str) -> str:
    return f"[{name}](contracts.md#{name.replace('/', '')})"


def _beyond() -> str:
    """Return the contracts that no test of the suite asks about, as Markdown."""
    tests = {**CROSSWALK, **UNRELEASED}
    asked = {name for names in tests.values() for name in names}
    left = [one.id for one in contracts() if one.id not in asked]
    return (
        f"## What none of them asks\n\n{len(left)} of {len(contracts())} contracts: "
        f"{', '.join(_link(name) for name in left)}."
    )


if __name__ == "__main__":
    sys.stdout.write(render())
