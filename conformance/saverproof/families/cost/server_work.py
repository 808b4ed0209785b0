"""Counts a server's work for one answer, while the store is opened for that answer alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from saverproof.families.cost.questions import Question
from saverproof.families.cost.stores import GrowingStore, doom
from saverproof.savers.execution.store import Store
from saverproof_faults.servers import ServerUnavailable
from saverproof_faults.servers.kinds import ServerWork


class NotTold(Exception):  # noqa: N818 - named by what happened
    """The server does not tell what it does; the text says why."""


@dataclass(frozen=True, slots=True)
class WorkForAnswers:
    """Asks the server of a store about its work for an answer."""

    store: Store
    work: ServerWork

    def counted(self, question: Question, store: GrowingStore, size: int) -> Mapping[str, int]:
        """Return what one more answer costs the server, without what it costs to open the store and
        to use the saver for the first time.

        Raises:
            NotTold: the server does not tell.
            OpeningError: closing or opening raised.
        """
        # A thread that has been removed cannot be removed again.
        fewer = 0 if question.removes else 1
        few, many = (self._answers(times, question, store, size) for times in (fewer, fewer + 1))
        return {name: max(count - few[name], 0) for name, count in many.items()}

    def _answers(
        self, times: int, question: Question, store: GrowingStore, size: int
    ) -> Mapping[str, int]:
        """Return the server's work for a store that is opened, asked so often, and closed."""
        if question.removes:
            doom(store)
        try:
            self.store.close()
            self.work.begin()
            self.store.open()
            for _ in range(times):
                question.ask(store, size)
            self.store.close()
            return self.work.done()
        except ServerUnavailable as reason:
            raise NotTold(str(reason)) from None
        finally:
            self.store.reopen()


@contextmanager
def work_for_answers(store: Store) -> Iterator[WorkForAnswers | None]:
    """Yield what asks the server of a store; None if its target has none.

    Raises:
        NotTold: the server does not tell.
    """
    kind = store.target.server
    if kind is None:
        yield None
        return
    with ExitStack() as stack:
        try:
            work = stack.enter_context(kind.work(store.workspace.dsn))
        except ServerUnavailable as reason:
            raise NotTold(str(reason)) from None
        yield WorkForAnswers(store, work)
