"""Names of threads, namespaces, channels and tasks that a saver may confuse or refuse."""

from __future__ import annotations

import re
from functools import lru_cache

from saverproof.programs.rewriting import renaming
from saverproof.programs.steps.definitions import Program, PutWrites, Step

_PLAIN_THREAD = re.compile(r"(?!null$)[a-z]{1,60}\d*")
_PLAIN_NODE = re.compile(r"[a-z]{1,60}(_?\d+)?")


def is_hostile(thread: str) -> bool:
    """Return whether a saver may confuse or refuse this thread id."""
    return not _PLAIN_THREAD.fullmatch(thread)


@lru_cache(maxsize=1_024)
def is_hostile_namespace(namespace: str) -> bool:
    """Return whether a saver may confuse or refuse a node name in this namespace."""
    first, *others = (part.partition(":")[0] for part in namespace.split("|"))
    # A second call of a subgraph in one task adds a part that is a number.
    nodes = [first, *(node for node in others if not node.isdecimal())]
    return bool(namespace) and not all(map(_PLAIN_NODE.fullmatch, nodes))


def hostile_names(step: Step) -> set[str]:
    """Return the threads and namespaces of a step that a saver may confuse or refuse."""
    namespace = getattr(step, "namespace", None) or ""
    odd = {namespace} if is_hostile_namespace(namespace) else set()
    return odd.union(filter(is_hostile, renaming.threads(step)))


def has_hostile_namespace(step: Step) -> bool:
    """Return whether the step's namespace is hostile."""
    return is_hostile_namespace(getattr(step, "namespace", None) or "")


def plain_nodes(program: Program) -> Program:
    """Return the program with plain names for its hostile namespaces."""
    return renaming.plain_where(program, is_hostile_namespace)


def has_hostile_thread(step: Step) -> bool:
    """Return whether one of the step's threads is hostile."""
    return any(map(is_hostile, renaming.threads(step)))


def has_named_namespace(step: Step) -> bool:
    """Return whether the step's namespace is neither the root nor a numbered plain one (``n1``)."""
    # The first plain namespace is a bare node name, which LangGraph makes as well.
    namespace = getattr(step, "namespace", None) or ""
    return namespace == renaming.PLAIN_NAMESPACE or not renaming.is_plain_namespace(namespace)


def is_in_a_namespace(step: Step) -> bool:
    """Return whether the step names a namespace other than the root."""
    return bool(getattr(step, "namespace", None))


def has_odd_name(step: Step) -> bool:
    """Return whether a channel, node or task path of the step has an unusual name."""
    if isinstance(step, PutWrites) and not renaming.PLAIN_PATH.fullmatch(step.path):
        return True
    return not all(map(renaming.PLAIN_NAME.fullmatch, renaming.names(step)))
