"""Writes a program on a graph as Python statements, the body of a script."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from saverproof.families.graph import steps
from saverproof.families.graph.runner import HISTORY, NODES, RESULT, STATE
from saverproof.scripts.call_source import CallSource
from saverproof.scripts.source import literal


@dataclass(frozen=True, slots=True)
class Body:
    """A writer of programs for one API.

    ``how`` chooses the durability mode. ``failing`` are the positions of steps that raise on
    InMemorySaver as well. ``gate`` says that a stream opens the note's gate.
    """

    api: str
    how: Mapping[str, Any]
    failing: Collection[int]
    gate: bool

    def lines(self, program: steps.Program, kind: str, parents: bool) -> list[str]:
        """Return the statements of a function that returns what is observed of ``kind`` at the
        end.
        """
        threads = list(dict.fromkeys(step.thread for step in program))
        lines = [
            f'{_config(thread)} = {{"configurable": {{"thread_id": "{thread}"}}}}'
            for thread in threads
        ]
        for position, step in enumerate(program[:-1]):
            lines += self._guarded(self._statements(step), position in self.failing)
        last = program[-1]
        if kind == RESULT:
            return [*lines, *self._returning(last)]
        failing = len(program) - 1 in self.failing
        lines += self._guarded(self._statements(last), failing)
        return [*lines, *self._seen(kind, _config(last.thread), parents)]

    def _guarded(self, lines: list[str], failing: bool) -> list[str]:
        if not failing:
            return lines
        return ["with suppress(Exception):", *(f"    {line}" for line in lines)]

    # --- calls -------------------------------------------------------------------------------

    @property
    def _calls(self) -> CallSource:
        return CallSource(self.api, managed=False)

    def _call(self, method: str, *arguments: str) -> str:
        return self._calls.call(self.api, "graph", method, *arguments)

    def _each(self, method: str, *arguments: str) -> str:
        """Return the expression over which a ``for`` or ``async for`` iterates."""
        return f"graph.{'a' if self.api == 'async' else ''}{method}({', '.join(arguments)})"

    def _all(self, method: str, *arguments: str) -> str:
        source = self._each(method, *arguments)
        return f"[one async for one in {source}]" if self.api == "async" else f"list({source})"

    @property
    def _for(self) -> str:
        return "async for" if self.api == "async" else "for"

    def _options(self) -> list[str]:
        return [f"{name}={literal(value)}" for name, value in self.how.items()]

    def _at(self, thread: str, number: int | None) -> str:
        config = _config(thread)
        return config if number is None else f"history[{-1 - number}].config"

    def _history_for(self, step: steps.GraphStep) -> list[str]:
        """Return the statement that reads the history, if the step names a checkpoint by number."""
        if all(getattr(step, name, None) is None for name in ("at", "before")):
            return []
        return [f"history = {self._all('get_state_history', _config(step.thread))}"]

    # --- steps -------------------------------------------------------------------------------

    def _statements(self, step: steps.GraphStep) -> list[str]:
        match step:
            case steps.Stream():
                does = "note.gate.set()" if self.gate else "pass"
                return [f"{self._for} _ in {self._streaming(step)}:", f"    {does}"]
            case steps.AnswerEach(answers=answers):
                state = self._call("get_state", _config(step.thread))
                config = _config(step.thread)
                return [
                    f"answers = {literal(answers)}",
                    f"asked = [i for task in ({state}).tasks for i in task.interrupts]",
                    "by_id = {i.id: answers[i.value] for i in asked if i.value in answers}",
                    self._call("invoke", "Command(resume=by_id)", config, *self._options()),
                ]
            case steps.UpdateInside(values=values, as_node=node):
                state = self._call("get_state", _config(step.thread))
                return [
                    f"inside = next(task.state for task in ({state}).tasks if task.state)",
                    self._call("update_state", "inside", literal(values), literal(node)),
                ]
        return [*self._history_for(step), self._expression(step)]

    def _expression(self, step: steps.GraphStep) -> str:
        match step:
            case steps.Invoke(given=given, at=at):
                config = self._at(step.thread, at)
                return self._call("invoke", literal(given), config, *self._options())
            case steps.Answer(answer=answer, update=update, at=at):
                more = "" if update is None else f", update={literal(update)}"
                command = f"Command(resume={literal(answer)}{more})"
                return self._call("invoke", command, self._at(step.thread, at), *self._options())
            case steps.Update(values=values, as_node=node, at=at):
                config = self._at(step.thread, at)
                return self._call("update_state", config, literal(values), literal(node))
            case steps.Copy(at=at):
                config = self._at(step.thread, at)
                return self._call("update_state", config, "None", '"__copy__"')
            case steps.UpdateMany(supersteps=supersteps):
                updates = ", ".join(
                    f"[{', '.join(f'StateUpdate({literal(v)}, {literal(n)})' for v, n in one)}]"
                    for one in supersteps
                )
                return self._call("bulk_update_state", _config(step.thread), f"[{updates}]")
            case steps.Look(at=at):
                return f"plain({self._call('get_state', self._at(step.thread, at))})"
            case steps.History():
                return self._history(step)
        raise TypeError(f"no source for a step of class {type(step).__name__}")

    def _streaming(self, step: steps.Stream) -> str:
        options = [f"stream_mode={literal(list(step.modes))}"]
        if step.subgraphs:
            options.append("subgraphs=True")
        given, config = literal(step.given), _config(step.thread)
        return self._each("stream", given, config, *options, *self._options())

    def _history(self, step: steps.History) -> str:
        options = [_config(step.thread)]
        if step.limit is not None:
            options.append(f"limit={step.limit}")
        if step.before is not None:
            options.append(f"before={self._at(step.thread, step.before)}")
        if step.source is not None:
            options.append(f'filter={{"source": {literal(step.source)}}}')
        return f"[plain(s) {self._for} s in {self._each('get_state_history', *options)}]"

    # --- what is seen ------------------------------------------------------------------------

    def _returning(self, step: steps.GraphStep) -> list[str]:
        if isinstance(step, steps.Stream):
            does = "note.gate.set()" if self.gate else None
            return [
                "chunks = []",
                f"{self._for} chunk in {self._streaming(step)}:",
                *([f"    {does}"] if does else []),
                "    chunks.append(chunk)",
                "return chunks",
            ]
        if isinstance(step, steps.Update | steps.UpdateInside | steps.UpdateMany | steps.Copy):
            return [*self._statements(step), 'return "an answer"']
        *before, last = self._statements(step)
        return [*before, f"return {last}"]

    def _seen(self, kind: str, config: str, parents: bool) -> list[str]:
        if kind == NODES:
            return ["return sorted(note)"]
        if kind == STATE:
            return [f"return plain({self._call('get_state', config, 'subgraphs=True')})"]
        if kind == HISTORY:
            history = self._all("get_state_history", config)
            if not parents:
                return [f"return [plain(s) for s in {history}]"]
            return [
                f"history = {history}",
                "def name(config):",
                '    return config and config["configurable"]["checkpoint_id"]',
                "ids = [name(s.config) for s in history] + [None]",
                "return [ids.index(name(s.parent_config)) for s in history]",
            ]
        return [
            f"found = {self._calls.listing(self.api, 'saver', config)}",
            'where = [(t.config["configurable"]["checkpoint_ns"], t.metadata["step"], t) '
            "for t in found]",
            "return sorted(masked((ns, step, w[1:])) for ns, step, t in where "
            "for w in t.pending_writes)",
        ]


def _config(thread: str) -> str:
    return "config" if thread == "a" else f"config_{thread}"
