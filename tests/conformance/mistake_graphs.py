"""Writes anew which known mistakes make a graph of the scenarios come out otherwise.

``python -m tests.conformance.mistake_graphs`` plays each scenario in one mode on a saver with
each mistake, and writes the names of those that differ to ``graphs.json`` in
``saverproof/mistakes``, one a line.
"""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from langgraph.checkpoint.memory import InMemorySaver
from langsmith.run_helpers import tracing_context
from tests.conformance.graphs.graph_plans import memory_target, plan

from saverproof.families.graph.bench import GraphBench
from saverproof.families.graph.family import plays
from saverproof.families.graph.likening import compared
from saverproof.mistakes import MISTAKES
from saverproof.mistakes.programs import GRAPHS_FILE
from saverproof.savers.targets.event_loop import loop_for


def differs(name: str, profile: str = "quick") -> bool:
    """Whether a saver with the mistake of this name plays a scenario otherwise."""
    mistake = next(each for each in MISTAKES if each.name == name)
    api = mistake.apis[0]
    with TemporaryDirectory() as folder, loop_for(api) as loop, tracing_context(enabled=False):
        asked = plan(Path(folder), api, profile=profile)
        bench = GraphBench(memory_target(InMemorySaver), asked, loop)
        return any(
            compared(bench, play, bench.expected(play), mistake).differences
            for play in plays(asked)
        )


def main() -> None:
    """Play all of them, two at a time."""
    names = [each.name for each in MISTAKES if not each.hangs and not each.heavy]
    with ProcessPoolExecutor(2) as pool:
        found = dict(zip(names, pool.map(differs, names), strict=True))
    listed = sorted(name for name, otherwise in found.items() if otherwise)
    GRAPHS_FILE.write_text(json.dumps(listed, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
