"""The scene of closing a saver that is closed already, which must do no harm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

from saverproof.contracts.contract import Contract
from saverproof.contracts.tables import lifecycle
from saverproof.judging.context import Context
from saverproof.judging.lifecycles import undisturbed
from saverproof.judging.scenes.scene import Scene
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import Reopen, Step
from saverproof.programs.theme import Theme
from saverproof.scripts.writer import ScriptWriter


@dataclass(frozen=True, slots=True)
class CloseAgain(Scene):
    """Closing the saver twice, then opening it again."""

    about: ClassVar[Contract] = lifecycle.CLOSE_IDEMPOTENT
    calls_optional: ClassVar[bool] = True

    @staticmethod
    def make(model: Model, choose: Random, theme: Theme) -> CloseAgain:
        """Close twice."""
        del model, choose, theme
        return CloseAgain()

    def words(self) -> str:
        return "close the saver twice and open it again"

    def plain(self) -> Step:
        return Reopen()

    def play(self, context: Context) -> None:
        saver = context.store.saver

        def twice() -> None:
            try:
                for _ in range(2):
                    _close(context, saver)
            finally:
                context.store.reopen_closed()

        if _closers(saver) and undisturbed(context, self, twice, "closing to be harmless"):
            context.facts.agree(self.about)

    def write(self, writer: ScriptWriter) -> None:
        for close in writer.methods.closers:
            writer.say(close, close)
        writer.reopen()


def _closers(saver: Any) -> list[Callable[[], Any]]:
    """Return the methods that close a saver: those of the sync API and of the async one."""
    return [getattr(saver, name) for name in ("close", "aclose") if hasattr(saver, name)]


def _close(context: Context, saver: Any) -> None:
    for close in _closers(saver):
        answer = close()
        if hasattr(answer, "__await__"):
            context.store.loop.run(_awaited(answer))


async def _awaited(answer: Any) -> Any:
    return await answer
