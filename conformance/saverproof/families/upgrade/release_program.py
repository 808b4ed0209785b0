"""Plays calls that arrive as JSON on a saver. The saver's release is the one that is first on this
program's path.

It runs as a program of its own, and imports nothing of the kit: an old release needs an old
langgraph-checkpoint, which the kit may not know. Values arrive as expressions that make them, and
leave as texts that equal values share; no object is ever pickled on the way.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import inspect
import json
import os
import queue
import re
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

EXPRESSION = "$expression"
"""The single key of a JSON object that stands for a value: the expression that makes the value."""
MOST_FORKED_S = 45
"""Seconds for what a forked process does, such as setting a store up: longer than drivers wait for
a lock, and shorter than the kit waits for an answer.
"""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class OpenSavers:
    """The open savers, each by the name that the kit gave it."""

    def __init__(self, api: str) -> None:
        self.api = api
        self.savers: dict[str, Any] = {}
        self.managers: dict[str, Any] = {}
        self.names: dict[str, Any] = {}
        self.loop: asyncio.AbstractEventLoop | None = None
        self.calls_of_serializers = 0
        self.modules: dict[str, types.ModuleType] = {}

    # -- a saver's life -----------------------------------------------------------------------

    def open(
        self,
        name: str,
        opening: Mapping[str, Any],
        path: str,
        dsn: str,
        serializer: Mapping[str, Any] | None = None,
    ) -> None:
        """Open a saver by the statements and the expression of an opening. If a serializer is
        given, it takes the place of the saver's own.
        """
        serde = None if serializer is None else self.serializer_of(serializer)
        manager = self.manager_of(opening, path, dsn)
        enter = getattr(manager, "__aenter__", None) or manager.__enter__
        self.savers[name] = self.answer_of(enter())
        self.managers[name] = manager
        if serde is not None:
            self.savers[name].serde = serde

    def serializer_of(self, given: Mapping[str, Any]) -> Any:
        """Return the serializer of these statements and this expression. Its calls are counted."""
        names: dict[str, Any] = {}
        exec("\n".join(given["statements"]), names)
        serde = eval(given["expression"], names)
        for method in ("dumps_typed", "loads_typed"):
            setattr(serde, method, self.counted(getattr(serde, method)))
        return serde

    def counted(self, method: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return a serializer's method that counts its calls."""

        def call(given: Any) -> Any:
            self.calls_of_serializers += 1
            return method(given)

        return call

    def serialized(self) -> int:
        """Return how often serializers that were given to savers have been called."""
        return self.calls_of_serializers

    def manager_of(self, opening: Mapping[str, Any], path: str, dsn: str) -> Any:
        """Return the context manager that opens a saver. The folder of the target's own module is
        put on the path first.
        """
        sys.path[1:1] = [folder for folder in opening["folders"] if folder not in sys.path]
        names: dict[str, Any] = {"path": path, "dsn": dsn}
        exec("\n".join(opening["statements"]), names)
        return eval(opening["expression"], names)

    def close(self, name: str) -> None:
        """Close a saver."""
        del self.savers[name]
        manager = self.managers.pop(name)
        leave = getattr(manager, "__aexit__", None) or manager.__exit__
        self.answer_of(leave(None, None, None))

    def set_up(self, name: str) -> None:
        """Set the store up, if the saver has a method for it."""
        setup = getattr(self.savers[name], "setup", None)
        if setup is not None:
            self.answer_of(setup())

    def allow(self, name: str, copied: str, classes: list[list[str]]) -> None:
        """Make the copy of a saver that LangGraph makes for a graph whose state has classes."""
        self.savers[copied] = self.savers[name].with_allowlist([tuple(one) for one in classes])

    def said(self, name: str, values: list[Any], classes: list[list[str]]) -> list[str]:
        """Return, as texts, what the saver's serializer makes of each value that it stores.

        If classes are given, the serializer that LangGraph's base class makes for them is asked
        instead.
        """
        serde = self.savers[name].serde
        if classes:
            plain: BaseCheckpointSaver[Any] = BaseCheckpointSaver(serde=serde)
            serde = plain.with_allowlist([tuple(one) for one in classes]).serde
        stored = [serde.dumps_typed(self.made(value)) for value in values]
        return [text_of(serde.loads_typed(one)) for one in stored]

    # -- calls --------------------------------------------------------------------------------

    def version(self, name: str, current: Any) -> Any:
        """Return the saver's channel version that follows another one."""
        return self.savers[name].get_next_version(current, None)

    def call(self, name: str, operation: str, arguments: list[Any]) -> Any:
        """Call an operation, named as in the sync API. Its answer is not returned."""
        method = self.method(name, operation)
        made = [self.made(argument) for argument in arguments]
        if operation == "put_writes" and "task_path" not in inspect.signature(method).parameters:
            # Releases before the parameter: LangGraph leaves it out then.
            del made[3:]
        self.answer_of(method(*made))

    def method(self, name: str, operation: str) -> Callable[..., Any]:
        """Return the operation's method, of the API that is judged."""
        prefix = "a" if self.api == "async" else ""
        method: Callable[..., Any] = getattr(self.savers[name], prefix + operation)
        return method

    def made(self, data: Any) -> Any:
        """Return the argument that some data stands for."""
        if isinstance(data, dict):
            if data.keys() == {EXPRESSION}:
                source, imports = data[EXPRESSION]
                exec("\n".join(imports), self.names)
                return eval(source, self.names)
            return {key: self.made(item) for key, item in data.items()}
        if isinstance(data, list):
            return [self.made(item) for item in data]
        return data

    # -- looks --------------------------------------------------------------------------------

    def look(self, name: str, questions: list[Mapping[str, Any]]) -> list[dict[str, str]]:
        """Return the facts that the saver shows for each question: texts by names."""
        return [self.looked(name, question) for question in questions]

    def looked(self, name: str, question: Mapping[str, Any]) -> dict[str, str]:
        try:
            return {key: text_of(shown) for key, shown in self.asked(name, **question)}
        except Exception as error:  # noqa: BLE001 - a saver may raise anything
            return {f"{question['kind']} raises": _described(error)}

    def asked(self, name: str, kind: str, config: Any, **more: Any) -> Iterator[tuple[str, Any]]:
        """Yield the facts that one question shows."""
        config = self.made(config)
        if kind == "get":
            yield from _shown(self.answer_of(self.method(name, "get_tuple")(config)), "read")
        elif kind == "list":
            found = self.listed(name, config, **more)
            for one in found:
                yield from _shown(one, "listed")
            for namespace in sorted({_place(one)[0] for one in found}):
                ids = [_place(one)[1] for one in found if _place(one)[0] == namespace]
                yield f"order of {namespace!r}", ids
        elif kind == "select":
            yield "selected", sorted(_place(one) for one in self.listed(name, config, **more))
        else:
            method = self.method(name, "get_delta_channel_history")
            yield "delta history", self.answer_of(method(config=config, **more))

    def listed(self, name: str, config: Any, **more: Any) -> list[Any]:
        listing = self.method(name, "list")(config, **more)
        if self.api == "async":
            return list(self.answer_of(_gathered(listing)))
        return list(listing)

    # -- graphs -------------------------------------------------------------------------------

    def graph(self, name: str, text: str, kind: str, part: str, log: str) -> dict[str, str]:
        """Play one part of a graph that stops in between. Return what is shown, as texts by names.
        ``text`` is the source of the module that plays it.
        """
        play = self.module_of(text).play
        shown = self.answer_of(play(self.savers[name], self.api, kind, part, log))
        return {key: text_of(value) for key, value in (shown or {}).items()}

    def killed_graph(
        self, opening: Mapping[str, Any], path: str, dsn: str, text: str, kind: str, log: str
    ) -> bool:
        """Play the first part of a graph, in a process that is killed by one of the graph's nodes.
        Return whether it was killed.
        """
        self.module_of(text)
        child = os.fork()
        if child == 0:
            # A lock that another thread held at the fork is never released: end, and not wait.
            signal.alarm(MOST_FORKED_S)
            with contextlib.suppress(BaseException):
                self.loop = None
                self.open("dying", opening, path, dsn)
                self.graph("dying", text, kind, "before", log)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL

    def module_of(self, text: str) -> Any:
        """Return a module made of this source. It has a name by which LangGraph looks up its
        classes.
        """
        if text not in self.modules:
            module = types.ModuleType(f"saverproof_sent_{len(self.modules)}")
            sys.modules[module.__name__] = module
            exec(text, module.__dict__)
            self.modules[text] = module
        return self.modules[text]

    # -- setting up, and dying of it ----------------------------------------------------------

    def die(self, opening: Mapping[str, Any], path: str, dsn: str, place: int) -> int:
        """Open a store and set it up, in a process that is killed at a call of its driver. Return
        the number of calls before that. It is less than ``place`` if the process came to its end.
        """
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            # A lock that another thread held at the fork is never released: end, and not wait.
            signal.alarm(MOST_FORKED_S)
            with contextlib.suppress(BaseException):
                self.loop = None
                calls = _DriverCalls(place, writing)
                sys.setprofile(calls.note)
                threading.setprofile(calls.note)
                self.open("dying", opening, path, dsn)
                self.set_up("dying")
                self.close("dying")
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            count = len(pipe.read())
        os.waitpid(child, 0)
        return count

    # -- awaiting -----------------------------------------------------------------------------

    def answer_of(self, answer: Any) -> Any:
        """Return an answer. If it has to be awaited, await it on a loop in another thread."""
        if not inspect.iscoroutine(answer):
            return answer
        if self.loop is None:
            self.loop = asyncio.new_event_loop()
            threading.Thread(target=self.loop.run_forever, daemon=True).start()
        return asyncio.run_coroutine_threadsafe(answer, self.loop).result()


class _DriverCalls:
    """Counts the calls that reach a driver, and ends the process at one of them."""

    def __init__(self, place: int, pipe: int) -> None:
        self.place, self.pipe, self.seen = place, pipe, 0

    def note(self, frame: Any, event: str, callee: Any) -> None:
        if event != "c_call" or not _is_of_driver(callee):
            return
        if self.seen == self.place:
            os.kill(os.getpid(), signal.SIGKILL)
        self.seen += 1
        os.write(self.pipe, b".")


def _is_of_driver(callee: Any) -> bool:
    """Return whether a built-in method belongs to a driver: to SQLite's module, or to a module
    outside of Python itself.
    """
    module = type(getattr(callee, "__self__", None)).__module__.partition(".")[0]
    return module in ("sqlite3", "_sqlite3") or not (
        module in sys.stdlib_module_names or module in ("builtins", "types")
    )


async def _gathered(listing: Any) -> list[Any]:
    return [found async for found in listing]


def _place(found: Any) -> tuple[str, str]:
    """Return the namespace and the id of a checkpoint tuple."""
    named = found.config["configurable"]
    return named.get("checkpoint_ns") or "", named["checkpoint_id"]


def _shown(found: Any, how: str) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a checkpoint tuple as facts."""
    if found is None:
        yield f"{how}", None
        return
    namespace, own = _place(found)
    about = f"{how} {namespace!r} {own}"
    checkpoint = dict(found.checkpoint)
    for channel, value in checkpoint.pop("channel_values", {}).items():
        yield f"{about}: value of {channel!r}", value
    for name, value in checkpoint.items():
        yield f"{about}: {name}", value
    for key, value in found.metadata.items():
        yield f"{about}: metadata {key!r}", value
    parent = (found.parent_config or {}).get("configurable", {})
    yield f"{about}: parent", parent.get("checkpoint_id")
    tasks: dict[str, list[Any]] = {}
    for task, channel, value in found.pending_writes or ():
        tasks.setdefault(task, []).append([channel, value])
    for task, writes in tasks.items():
        yield f"{about}: number of writes of task {task}", len(writes)
        for number, write in enumerate(writes, 1):
            yield f"{about}: write {number} of task {task}", write


def text_of(value: Any) -> str:
    """Return a text that is the same for equal values, whatever the order of their keys."""
    return json.dumps(_plain(value), sort_keys=True)


def _plain(value: Any) -> Any:
    """Return JSON that is the same for equal values, and differs for values of other types."""
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, Mapping):
        return {_key(key): _plain(item) for key, item in value.items()}
    if type(value) is list:
        return [_plain(item) for item in value]
    if (parts := _parts(value)) is not None:
        return {type(value).__qualname__: {name: _plain(part) for name, part in parts.items()}}
    if isinstance(value, (set, frozenset)):
        return {type(value).__name__: sorted(text_of(item) for item in value)}
    return {type(value).__qualname__: _ADDRESS.sub("", repr(value))}


def _parts(value: Any) -> Mapping[str, Any] | None:
    """Return the fields of an object, if its class names them. A repr may leave out fields, or
    depend on how the object was made.
    """
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(named := getattr(type(value), "model_fields", None), Mapping):
        return {name: getattr(value, name) for name in named}
    return None


def _key(key: Any) -> str:
    return key if isinstance(key, str) else f"{type(key).__name__} {key!r}"


def _described(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - the exception is a stranger's
        text = ""
    return f"{type(error).__name__}: {text}"[:500]


def main() -> None:
    """Answer requests, a line of JSON each, until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Anything that a saver prints must not be taken for an answer.
    os.dup2(2, 1)
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    savers = OpenSavers(sys.argv[1])
    # A saver that does not answer must not outlive the process that asks.
    threading.Thread(target=_take_in, args=(requests,), daemon=True).start()
    while True:
        request = json.loads(requests.get())
        try:
            answer = {"answer": getattr(savers, request.pop("do"))(**request)}
        except Exception as error:  # noqa: BLE001 - a saver may raise anything
            answer = {"raised": _described(error)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _take_in(requests: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        requests.put(line)
    os._exit(0)


if __name__ == "__main__":
    main()
