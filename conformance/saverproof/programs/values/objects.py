"""Kinds of values that are objects of classes, some of them LangGraph's and LangChain's."""

from __future__ import annotations

from saverproof.programs.values.kind import chosen

_MESSAGES = "from langchain_core.messages import {}"
_TYPES = "from langgraph.types import {}"

# Classes of the standard library and of LangGraph, so that a reproducer and the process that
# reads its data back can both import them.
OBJECTS = (
    chosen(
        "object",
        "pydantic-model",
        *("Document(page_content='page <n>')", "Document(page_content='', metadata={'n': <n>})"),
        imports=("from langchain_core.documents import Document",),
    ),
    chosen(
        "object",
        "dataclass",
        "FunctionProfile('<n>', 0.5, 0.25, 1.0, 0.5, 'a.py', <n>)",
        imports=("from pstats import FunctionProfile",),
    ),
    chosen(
        "object",
        "named-tuple",
        *("Match(1, <n>, 3)", "Match(None, [], <n>)"),
        imports=("from difflib import Match",),
    ),
    chosen(
        "object",
        "send",
        *("Send('node', <n>)", "Send('n o.d\"e', {'a': [<n>]})"),
        imports=(_TYPES.format("Send"),),
    ),
    chosen(
        "object",
        "interrupt",
        *("Interrupt(value='question <n>')", "Interrupt(value={'ask': [<n>, None]})"),
        imports=(_TYPES.format("Interrupt"),),
    ),
    # Before LangGraph 0.6 an interrupt was built without an id, and this kind cannot be made.
    chosen(
        "object",
        "identified-interrupt",
        "Interrupt(value='question', id='<n>')",
        imports=(_TYPES.format("Interrupt"),),
    ),
)


MESSAGES = (
    chosen(
        "message",
        "human-message",
        "HumanMessage(content='hello <n>', id='h<n>')",
        "HumanMessage(content=[{'type': 'text', 'text': '<n>'}], name='ann')",
        imports=(_MESSAGES.format("HumanMessage"),),
    ),
    chosen(
        "message",
        "ai-message",
        "AIMessage(content='answer <n>')",
        "AIMessage(content='', tool_calls=[{'name': 'f', 'args': {'x': <n>}, 'id': 'call'}])",
        "AIMessage(content='', additional_kwargs={'n': <n>}, response_metadata={'model': 'm'})",
        imports=(_MESSAGES.format("AIMessage"),),
    ),
    chosen(
        "message",
        "tool-message",
        "ToolMessage(content='result <n>', tool_call_id='call', artifact={'n': <n>})",
        imports=(_MESSAGES.format("ToolMessage"),),
    ),
    chosen(
        "message",
        "system-message",
        "SystemMessage(content='be brief <n>')",
        imports=(_MESSAGES.format("SystemMessage"),),
    ),
    chosen(
        "message",
        "message-list",
        "[HumanMessage(content='<n>'), AIMessage(content='b', id='ai')]",
        imports=(_MESSAGES.format("AIMessage, HumanMessage"),),
    ),
)
