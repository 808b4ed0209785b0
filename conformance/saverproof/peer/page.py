"""The page docs/peer.md, written by `python -m saverproof.peer.page`."""

from __future__ import annotations

import sys

from saverproof.contracts.registry import contracts
from saverproof.peer.crosswalk import CROSSWALK

_INTRODUCTION = """\
# LangGraph's own suite

<!-- Generated: python -m saverproof.peer.page > docs/peer.md -->

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


def render() -> str:
    """Return the whole page as Markdown, ending in a newline."""
    rows = ["| test | contracts |", "|---|---|"]
    rows += [
        f"| `{test}` | {', '.join(_link(name) for name in names)} |"
        for test, names in CROSSWALK.items()
    ]
    return "\n".join([_INTRODUCTION, *rows, "", _beyond()]) + "\n"


def _link(name: str) -> str:
    return f"[{name}](contracts.md#{name.replace('/', '')})"


def _beyond() -> str:
    """Return the contracts that the suite does not ask about, as Markdown."""
    asked = {name for names in CROSSWALK.values() for name in names}
    left = [one.id for one in contracts() if one.id not in asked]
    return (
        f"## What none of them asks\n\n{len(left)} of {len(contracts())} contracts: "
        f"{', '.join(_link(name) for name in left)}."
    )


if __name__ == "__main__":
    sys.stdout.write(render())
