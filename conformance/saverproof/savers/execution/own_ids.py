"""Ids that no other program uses, for stores that several workspaces share.

In calls of the saver, the program's threads, runs, tasks and checkpoints get ids of this workspace.
In answers they get the program's ids again. So nothing that another program, or an earlier run,
left in the store can be taken for this program's data.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from saverproof.programs.steps.identifiers import CHECKPOINT_NODE, TASK_MIDDLE
from saverproof.savers.targets.target import Target
from saverproof.savers.workspace import Workspace

Call = Callable[..., Any]
"""A function that takes a saver, an operation and its arguments."""

_CONFIGS = ("config", "before")
_THREADS = frozenset({"delete_thread", "copy_thread"})


def ids_for(target: Target, workspace: Workspace) -> OwnIds | None:
    """Return own ids for a workspace whose store is shared; None if its store is its own."""
    shares = target.ref is not None and target.ref.shares_store
    return OwnIds(workspace.name) if shares else None


@dataclass(frozen=True)
class OwnIds:
    """The ids of one workspace, derived from its name, which no other workspace has."""

    name: str

    @cached_property
    def _digits(self) -> str:
        return hashlib.sha256(self.name.encode()).hexdigest()

    @cached_property
    def _node(self) -> str:
        return f"-{self._digits[:12]}"

    @cached_property
    def _middle(self) -> str:
        return f"-{self._digits[12:16]}-5e0f-9{self._digits[16:19]}-"

    def around(self, call: Call) -> Call:
        """Return a call that sends the workspace's ids and returns the program's."""

        def translated(saver: Any, operation: str, *arguments: Any, **named: Any) -> Any:
            sent = self._sent(operation, arguments)
            also = {key: self._named(key, value) for key, value in named.items()}
            before = _copies(sent)
            try:
                return self._answer(call(saver, operation, *sent, **also))
            finally:
                self._mirror(arguments, sent, before)

        return translated

    def around_awaited(self, call: Call) -> Call:
        """Return a coroutine function that sends the workspace's ids and returns the program's."""

        async def translated(saver: Any, operation: str, *arguments: Any, **named: Any) -> Any:
            sent = self._sent(operation, arguments)
            also = {key: self._named(key, value) for key, value in named.items()}
            before = _copies(sent)
            try:
                return self._answer(await call(saver, operation, *sent, **also))
            finally:
                self._mirror(arguments, sent, before)

        return translated

    # --- what is sent ------------------------------------------------------------------------

    def thread(self, thread: Any) -> Any:
        """Return the thread id that the saver is given."""
        return f"{self.name}-{thread}" if isinstance(thread, str) else thread

    def config(self, config: Any) -> Any:
        """Return the config that the saver is given."""
        return self._in_config(config, self.thread, self._checkpoint)

    def _sent(self, operation: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        if operation in _THREADS:
            return tuple(map(self.thread, arguments))
        if operation == "prune":
            return ([self.thread(thread) for thread in arguments[0]], *arguments[1:])
        if operation == "delete_for_runs":
            return ([self.thread(run) for run in arguments[0]], *arguments[1:])
        if operation == "put":
            config, checkpoint, metadata, versions = arguments
            own = {**checkpoint, "id": self._checkpoint(checkpoint["id"])}
            return self.config(config), own, self._with_run(metadata, self.thread), versions
        if operation == "put_writes":
            config, writes, task, *path = arguments
            return self.config(config), writes, self._task(task), *path
        # In listings a callback comes before the config.
        return tuple(self.config(a) if isinstance(a, Mapping) else a for a in arguments)

    def _named(self, key: str, value: Any) -> Any:
        if key in _CONFIGS:
            return self.config(value)
        return self._with_run(value, self.thread) if key == "filter" else value

    def _checkpoint(self, checkpoint: Any) -> Any:
        return _exchanged(checkpoint, CHECKPOINT_NODE, self._node)

    def _task(self, task: Any) -> Any:
        return task.replace(TASK_MIDDLE, self._middle) if isinstance(task, str) else task

    # --- what comes back ---------------------------------------------------------------------

    def _answer(self, answer: Any) -> Any:
        """Return an answer with the program's ids, wherever it has an expected form."""
        if isinstance(answer, list):
            return [self._answer(item) for item in answer]
        if isinstance(answer, Mapping):
            if "configurable" in answer:
                return self._config_back(answer)
            return {key: self._history_back(value) for key, value in answer.items()}
        if hasattr(answer, "_replace") and hasattr(answer, "checkpoint"):
            return self._tuple_back(answer)
        return answer

    def _tuple_back(self, found: Any) -> Any:
        checkpoint, writes = found.checkpoint, found.pending_writes
        if isinstance(checkpoint, Mapping) and "id" in checkpoint:
            checkpoint = {**checkpoint, "id": self._checkpoint_back(checkpoint["id"])}
        return found._replace(
            config=self._config_back(found.config),
            checkpoint=checkpoint,
            metadata=self._with_run(found.metadata, self._thread_back),
            parent_config=self._config_back(found.parent_config),
            pending_writes=self._writes_back(writes),
        )

    def _history_back(self, history: Any) -> Any:
        if isinstance(history, Mapping) and "writes" in history:
            return {**history, "writes": self._writes_back(history["writes"])}
        return history

    def _writes_back(self, writes: Any) -> Any:
        if not isinstance(writes, list | tuple):
            return writes
        return type(writes)(
            type(write)((self._task_back(write[0]), *write[1:]))
            if type(write) in (list, tuple) and write
            else write
            for write in writes
        )

    def _config_back(self, config: Any) -> Any:
        return self._in_config(config, self._thread_back, self._checkpoint_back)

    def _thread_back(self, thread: Any) -> Any:
        return thread.removeprefix(f"{self.name}-") if isinstance(thread, str) else thread

    def _checkpoint_back(self, checkpoint: Any) -> Any:
        return _exchanged(checkpoint, self._node, CHECKPOINT_NODE)

    def _task_back(self, task: Any) -> Any:
        return task.replace(self._middle, TASK_MIDDLE) if isinstance(task, str) else task

    # --- both --------------------------------------------------------------------------------

    def _in_config(
        self, config: Any, thread: Callable[[Any], Any], checkpoint: Callable[[Any], Any]
    ) -> Any:
        if not isinstance(config, Mapping) or not isinstance(config.get("configurable"), Mapping):
            return config
        inside = dict(config["configurable"])
        for key, exchange in (("thread_id", thread), ("checkpoint_id", checkpoint)):
            if key in inside:
                inside[key] = exchange(inside[key])
        changed = {**config, "configurable": inside}
        if "metadata" in changed:
            changed["metadata"] = self._with_run(changed["metadata"], thread)
        return changed

    @staticmethod
    def _with_run(metadata: Any, exchange: Callable[[Any], Any]) -> Any:
        if not isinstance(metadata, Mapping) or "run_id" not in metadata:
            return metadata
        return {**metadata, "run_id": exchange(metadata["run_id"])}

    def _mirror(
        self, arguments: tuple[Any, ...], sent: tuple[Any, ...], before: tuple[Any, ...]
    ) -> None:
        """Change the program's arguments in the way in which the saver changed those it was
        given.
        """
        for own, given, was in zip(arguments, sent, before, strict=True):
            if own is given or given == was or not isinstance(own, dict | list):
                continue
            if isinstance(own, list):
                own[:] = map(self._thread_back, given)
                continue
            changed = self._with_run(self._config_back(given), self._thread_back)
            if "id" in changed:
                changed = {**changed, "id": self._checkpoint_back(changed["id"])}
            own.clear()
            own.update(changed)


def _copies(sent: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return copies of the arguments, deep enough to see whether the saver changed them."""
    return tuple(
        {key: dict(value) if isinstance(value, dict) else value for key, value in one.items()}
        if isinstance(one, dict)
        else list(one)
        if isinstance(one, list)
        else one
        for one in sent
    )


def _exchanged(checkpoint: Any, old: str, new: str) -> Any:
    if isinstance(checkpoint, str) and checkpoint.endswith(old):
        return checkpoint.removesuffix(old) + new
    return checkpoint
