"""Judging in pytest's own process. pytest imports this, and every family, only if it is asked to
by ``--saver-in-process``.
"""

from __future__ import annotations

from typing import TypeVar

from saverproof.families.handlers import HANDLERS
from saverproof.process.requests import Progress, Request

Data = TypeVar("Data")
Answer = TypeVar("Answer")


class InProcess:
    """Answers as the judge process does. A saver that hangs or crashes takes pytest with it."""

    closed = False

    def ask(
        self,
        request: Request[Data, Answer],
        data: Data,
        *,
        silence_s: float | None = None,
        limit_s: float | None = None,
        listener: Progress | None = None,
    ) -> Answer:
        """The answer to a request; no limit is kept."""
        return HANDLERS.answer(request, data, listener or (lambda figures: None))

    def take_output(self) -> str:
        """Nothing: pytest catches what is printed."""
        return ""

    def close(self) -> None:
        """There is nothing to end."""
