"""Judge in pytest's own process.

This module imports every family, which takes seconds. pytest imports it only for
``--saver-in-process``.
"""

from __future__ import annotations

from typing import TypeVar

from saverproof.families.handlers import HANDLERS
from saverproof.process.requests import Progress, Request

Data = TypeVar("Data")
Answer = TypeVar("Answer")


class InProcess:
    """A stand-in for the judge process. A saver that hangs or crashes takes pytest with it."""

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
        """Return the answer to a request. Time limits are ignored."""
        return HANDLERS.answer(request, data, listener or (lambda figures: None))

    def take_output(self) -> str:
        """Return "": pytest captures the output itself."""
        return ""

    def close(self) -> None:
        """Do nothing: there is no process to end."""
