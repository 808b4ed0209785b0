"""Writes standalone scripts of graphs that stop under one release and go on under another."""

from __future__ import annotations

from collections.abc import Mapping

from saverproof.contracts.tables import upgrade
from saverproof.families.upgrade.graph_resumes import StoppedGraph
from saverproof.families.upgrade.release_script import PLAYED, ReleaseScript, compared
from saverproof.savers.releases.installed import Release
from saverproof.savers.targets.target import Target
from saverproof.scripts.formatting import indented
from saverproof.scripts.statements import NoScriptError
from saverproof.scripts.verification import complains_alone

_STOPS: Mapping[str, tuple[str, ...]] = {
    "asked": ('answers = [interrupt("question 1")]',),
    "asked-often": ('answers = [interrupt(f"question {n}") for n in (1, 2, 3)]',),
    "failed": ("if stops[0]:", '    raise ValueError("once")', "answers = []"),
    "killed": ("if stops[0]:", "    os.kill(os.getpid(), signal.SIGKILL)", "answers = []"),
}
"""What the node does at which a graph stops, by the kind of the graph. Graphs of other kinds have
no script.
"""
_IN_LINE = ("failed", "killed")
"""The kinds of graphs in which no node runs beside the one that stops."""
_NODES = (
    "def began(name):",
    '    with open(sys.argv[1] + ".log", "a") as log:',
    '        log.write(name + "\\n")',
    "def noting(name):",
    "    def node(state):",
    "        began(name)",
    '        return {"notes": [name]}',
    "    return node",
)
_BUILT = (
    "class State(TypedDict):",
    "    notes: Annotated[list, operator.add]",
    "def compiled(saver):",
    "    builder = StateGraph(State)",
    '    for name in ("plan", "tidy", "finish"):',
    "        builder.add_node(name, noting(name))",
    '    builder.add_node("stop", stop)',
    '    builder.add_edge(START, "plan")',
    "{edges}",
    '    once_more = lambda state: "plan" if state["notes"].count("finish") < 2 else END',
    '    builder.add_conditional_edges("finish", once_more, ["plan", END])',
    "    return builder.compile(checkpointer=saver)",
)
_ROW = (
    '    builder.add_edge("plan", "tidy"), builder.add_edge("tidy", "stop")',
    '    builder.add_edge("stop", "finish")',
)
_BESIDE = (
    '    builder.add_edge("plan", "tidy"), builder.add_edge("plan", "stop")',
    '    builder.add_edge(["tidy", "stop"], "finish")',
)
_TOLD = (
    "found = {",
    '    "waited for": text([one.value for task in first.tasks for one in task.interrupts]),',
    '    "next nodes": text(first.next),',
    '    "notes at the end": text(last.values.get("notes")),',
    '    "nodes left": text(last.next),',
    "}",
    'with open(sys.argv[1] + ".log") as log:',
    '    found["began"] = text(sorted(log.read().split()))',
)
_IMPORTS = (
    "import operator",
    "from typing import Annotated, TypedDict",
    "from langgraph.graph import END, START, StateGraph",
    "from langgraph.types import Command, interrupt",
)


def graph_reproducer(target: Target, release: Release, graph: StoppedGraph, api: str) -> str:
    """Return the source of a script that was run, and whose graph went on otherwise; "" if there is
    none. An older LangGraph stores its steps in another way, and has none.
    """
    if release.langgraph or graph.kind not in _STOPS:
        return ""
    try:
        text = _written(target, release, graph, api)
    except NoScriptError:
        return ""
    contract = upgrade.GRAPH_RESUMES.id
    return text if complains_alone(text, contract) else ""


def _written(target: Target, release: Release, graph: StoppedGraph, api: str) -> str:
    script = ReleaseScript.of(target, release, api)
    script.writer.imports |= set(_IMPORTS)
    script.functions += [*_NODES, *_stopping(graph), *_built(graph)]
    answers = [f'Command(resume="answer {number}")' for number in (1, 2, 3)]
    first, then = ['{"notes": ["begin"]}'], answers[:1]
    if graph.kind == "asked-often":
        first, then = [*first, answers[0]], answers[1:]
    elif graph.kind in _IN_LINE:
        then = ["None"]
    calls = script.writer.calls

    def call(given: str) -> str:
        return calls.call(api, "graph", "invoke", given, "CONFIG", 'durability="sync"')

    asked = calls.call(api, "graph", "get_state", "CONFIG")
    until_it_stops = (
        line for each in first for line in ("with suppress(ValueError):", f"    {call(each)}")
    )
    script.add("until_it_stops", ["stops[0] = True", "graph = compiled(saver)", *until_it_stops])
    going_on = ["graph = compiled(saver)", f"first = {asked}", *map(call, then), f"last = {asked}"]
    script.add("going_on", [*going_on, *_TOLD], returns="found")
    own = "played(old, old)", "played(new, new)"
    return script.assembled(
        upgrade.GRAPH_RESUMES.id,
        [*PLAYED, *compared("played(old, new)", *own)],
        top=('CONFIG = {"configurable": {"thread_id": "a thread"}}', "stops = [False]"),
    )


def _stopping(graph: StoppedGraph) -> list[str]:
    """Return the node at which the graph stops in its first round."""
    return [
        "def stop(state):",
        '    began("stop")',
        '    if "finish" in state["notes"]:',
        '        return {"notes": ["stop"]}',
        *indented(_STOPS[graph.kind]),
        '    return {"notes": [" ".join(["stop", *answers])]}',
    ]


def _built(graph: StoppedGraph) -> list[str]:
    edges = _ROW if graph.kind in _IN_LINE else _BESIDE
    return [line for one in _BUILT for line in (edges if one == "{edges}" else (one,))]
