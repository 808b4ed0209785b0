"""Runs in the processes of two savers on one store. One saver writes; the other was opened and
asked before the change, and is asked again after it. The other may have written before, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeAlias

from saverproof.errors import OpeningError, describe
from saverproof.families.concurrency.callers.child import ScenePart
from saverproof.families.concurrency.callers.meeting import Meeting
from saverproof.families.concurrency.callers.schedules import Schedule
from saverproof.families.concurrency.callers.watching import LOCK_PATIENCE_S
from saverproof.programs.steps import definitions as steps
from saverproof.programs.steps.codec import encode, from_json
from saverproof.programs.steps.describing import describe as describe_step
from saverproof.programs.steps.identifiers import mint
from saverproof.savers.execution.calls import get_config, list_arguments
from saverproof.savers.execution.driver import ApiDriver, driver_of
from saverproof.savers.execution.settled_calls import Calls, SettledCall, perform
from saverproof.savers.execution.versions import versions_of
from saverproof.savers.execution.view import canonical, contents_of
from saverproof_faults.kill import Acks

WRITER, READER = 0, 1
_NUMBERS = {mint(number): number for number in range(1, 100)}
_LONGEST = 300
"""How many characters of an answer are shown if two answers differ only in the contents of
checkpoints.
"""

Answer: TypeAlias = list[str]
"""A text that is the same for equal answers, and the answer in a few words."""


def in_one_process(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Play both savers in this process. See :meth:`_Part.told`."""
    part = _Part(arguments)

    def play() -> None:
        with part.scene.saver() as writer, ExitStack() as stack:
            reader = part.opened_beside(stack)
            calls = part.settled(writer)
            part.ask(reader)
            for number, call in enumerate(calls):
                part.change(reader if number in part.own else writer, call)
                if not part.asks_after(number):
                    continue
                # The reader comes first: asking the writer may have it store what it put off.
                shown = part.ask(reader)
                part.compare(number, reader, shown, part.ask(writer), part.ask_fresh)

    return part.told(play)


def write(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Play the writer, which leaves its own answers for the reader."""
    part = _Part(arguments)

    def play() -> None:
        with part.meeting(WRITER) as meeting, part.scene.saver() as writer:
            calls = part.settled(writer)
            meeting.tell(1)
            for number, call in enumerate(calls):
                meeting.await_other(READER, number + 1)
                if number not in part.own:
                    part.change(writer, call)
                if part.asks_after(number):
                    part.answers_at(number).write_text(json.dumps(part.ask(writer)))
                meeting.tell(number + 2)
            # It is not closed before the last answers are compared.
            meeting.await_other(READER, len(calls) + 1)

    return part.told(play)


def read(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Play the reader."""
    part = _Part(arguments)

    def play() -> None:
        with part.meeting(READER) as meeting, ExitStack() as stack:
            # Not both at once: that is a race for a new store.
            meeting.await_other(WRITER, 1)
            reader = part.opened_beside(stack)
            part.ask(reader)
            for number, call in enumerate(part.settled(reader)):
                if number in part.own:
                    part.change(reader, call)
                meeting.tell(number + 1)
                meeting.await_other(WRITER, number + 2)
                if not part.asks_after(number):
                    continue
                if not part.answers_at(number).exists():
                    # The other process tells why it got no further.
                    return
                answers = json.loads(part.answers_at(number).read_text())
                part.compare(number, reader, part.ask(reader), answers, None)
            meeting.tell(len(part.changes) + 1)

    return part.told(play)


def look(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers of a saver that a third process opens at the end, as "answers"."""
    part = _Part(arguments)
    answers: list[Answer] = []

    def play() -> None:
        answers.extend(map(part.ask_fresh, part.questions))

    return part.told(play) | {"answers": answers}


class _RefusedError(Exception):
    """No second saver can be opened beside the first one."""


class _Part:
    """The part of one process in the scene: ``changes`` and ``questions`` are steps. ``own`` are
    the numbers of the changes that the reader makes itself.
    """

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self.scene = ScenePart(
            {**arguments, "schedule": encode(Schedule("")), "patience_s": LOCK_PATIENCE_S}
        )
        self.changes = from_json(arguments["changes"])
        self.questions = from_json(arguments["questions"])
        self.own = frozenset(arguments.get("own", ()))
        self._at_once = arguments.get("at_once", 1)
        self._meeting = arguments.get("meeting", "")
        self._refused: str | None = None
        self._compared: list[list[int]] = []
        self._stale: list[dict[str, Any]] = []
        self._refusals: list[str] = []
        self._disputed: list[str] = []

    def told(self, play: Callable[[], object]) -> dict[str, Any]:
        """Play this part under the watch.

        Return "compared": the numbers of changes and questions whose answers were compared;
        "stale": the questions that the reader answered differently, with "said", "expected" and
        "observed"; "disputed": the questions to which no two savers gave the same answer;
        "refused": why no second saver could be used; "trouble"; "standstill".
        """

        def guarded() -> None:
            try:
                play()
            except _RefusedError as error:
                self._refused = str(error)

        seen = self.scene.played(guarded)
        if self._refusals and not self._compared and not any(map(_answered, self._stale)):
            # Another saver may have the store for itself. Saying so each time is no wrong answer.
            self._refused, self._stale = self._refusals[0], []
        return seen | {
            "compared": self._compared,
            "stale": self._stale,
            "disputed": self._disputed,
            "refused": self._refused,
        }

    def meeting(self, number: int) -> Meeting:
        """Return the meeting in which the two processes tell each other how far they have come."""
        return Meeting(Path(self._meeting), number, 2)

    def answers_at(self, number: int) -> Path:
        """Return the file in which the writer leaves its answers after a change."""
        return Path(f"{self._meeting}-{number}.json")

    def opened_beside(self, stack: ExitStack) -> Any:
        """Open a second saver beside the one that is open.

        Raises:
            _RefusedError: the target cannot open a second saver.
        """
        try:
            return stack.enter_context(self.scene.saver())
        except OpeningError as error:
            raise _RefusedError(error.message) from error

    def asks_after(self, change: int) -> bool:
        """Return whether the questions are asked after a change, counted from 0. They are not
        between the last ones, which the reader sees all at once, nor after the reader's own: what
        it keeps of those is asked for when the other saver has gone on.
        """
        last = len(self.changes) - 1
        return change not in self.own and (change == last or change <= last - self._at_once)

    # --- changes ---------------------------------------------------------------------------

    def settled(self, writer: Any) -> tuple[SettledCall, ...]:
        """Return the calls of all changes.

        Where each process settles them for itself, changes of a scene in which both savers write
        have no versions, since savers may draw theirs at random.
        """
        return Calls(versions_of(writer)).settle(self.changes)

    def change(self, writer: Any, call: SettledCall) -> None:
        """Make a change."""
        perform(self._driver(writer), call)
        self.scene.progress.tick()

    # --- questions -------------------------------------------------------------------------

    def ask(self, saver: Any) -> list[Answer]:
        """Return the answers to all questions."""
        return [self._answer(saver, question) for question in self.questions]

    def ask_fresh(self, question: steps.Step) -> Answer:
        """Return the answer of a saver that is opened now."""
        try:
            with self.scene.saver() as fresh:
                return self._answer(fresh, question)
        except OpeningError as error:
            return _raised(error)

    def compare(
        self,
        change: int,
        reader: Any,
        found: list[Answer],
        expected: list[Answer],
        fresh: Callable[[steps.Step], Answer] | None,
    ) -> None:
        """Compare the reader's answers, ``found``, with the writer's. If they differ, a fresh saver
        decides. Without ``fresh``, another process decides later, since all savers of this process
        may share an outdated answer.
        """
        answers = zip(self.questions, found, expected, strict=True)
        for number, (question, shown, said) in enumerate(answers):
            if _is_error(said):
                # There is nothing to agree with.
                continue
            if _is_error(shown):
                # The store may have been locked, and the error may have said so.
                shown = self._answer(reader, question)
            if shown[0] == said[0]:
                self._compared.append([change, number])
                continue
            if _is_error(shown):
                self._refusals.append(shown[1])
            third = fresh(question) if fresh else said
            if third[0] == said[0]:
                self._stale.append(
                    {"at": [change, number], "said": said[0], **_in_words(said, shown)}
                )
            elif not (_is_error(shown) and _is_error(third)):
                told = _in_words(said, third)
                self._disputed.append(
                    f"{describe_step(question)}: the one that wrote says {told['expected']}; "
                    f"one that is opened now says {told['observed']}"
                )

    def _answer(self, saver: Any, question: steps.Step) -> Answer:
        driver = self._driver(saver)
        try:
            answer = _asked(driver, question)
        except Exception as error:  # noqa: BLE001 - a saver may raise anything
            answer = _raised(error)
        self.scene.progress.tick()
        return answer

    def _driver(self, saver: Any) -> ApiDriver:
        return driver_of(saver, self.scene.api, self.scene.loop, self.scene.ids)


_RAISED = "raised "


def _raised(error: Exception) -> Answer:
    return [f"{_RAISED}{describe(error)}"] * 2


def _is_error(answer: Answer) -> bool:
    return answer[0].startswith(_RAISED)


def _answered(stale: Mapping[str, Any]) -> bool:
    return not stale["observed"].startswith(_RAISED)


def _asked(driver: ApiDriver, question: steps.Step) -> Answer:
    match question:
        case steps.GetTuple():
            found = driver.get_tuple(get_config(question, question.thread))
            return _answer_of([] if found is None else [found])
        case steps.ListTuples():
            listed = driver.list_tuples(*list_arguments(question, question.thread))
            # Nothing orders the checkpoints of different namespaces.
            return _answer_of(sorted(listed, key=lambda one: contents_of(one)[0][:2]))
    raise NotImplementedError(f"no question for a {type(question).__name__} step")


def _answer_of(found: list[Any]) -> Answer:
    contents = [contents_of(one) for one in found]
    return [canonical(contents), "; ".join(_words(contents)) or "nothing"]


def _words(found: list[Any]) -> Iterator[str]:
    for (thread, namespace, checkpoint), shown in found:
        within = f", namespace {namespace!r}" if namespace else ""
        writes = f" with {len(shown['writes'])} writes" if shown["writes"] else ""
        number = _NUMBERS.get(checkpoint, checkpoint)
        yield f"checkpoint {number} of thread {thread!r}{within}{writes}"


def _in_words(expected: Answer, observed: Answer) -> dict[str, str]:
    said, shown = expected[1], observed[1]
    if said == shown:
        # The difference is in the contents of a checkpoint.
        pairs = zip(expected[0], observed[0], strict=False)
        begin = max(next((n for n, (a, b) in enumerate(pairs) if a != b), 0) - _LONGEST // 3, 0)
        said, shown = (
            f"{words}: …{whole[begin : begin + _LONGEST]}…" for whole, words in (expected, observed)
        )
    return {"expected": said, "observed": shown}
