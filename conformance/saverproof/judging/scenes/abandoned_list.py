"""The scene of a listing that is abandoned after its first item, and must leave nothing behind."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, ClassVar

from saverproof.contracts.contract import Contract
from saverproof.contracts.tables import lifecycle
from saverproof.judging.context import Context
from saverproof.judging.lifecycles import undisturbed
from saverproof.judging.scenes.scene import Scene
from saverproof.programs.model.store import Model
from saverproof.programs.small import THREAD, checkpoint
from saverproof.programs.steps.definitions import ListTuples, Step
from saverproof.programs.steps.describing import text
from saverproof.programs.theme import Theme
from saverproof.savers.execution.calls import Config, address_config
from saverproof.savers.execution.driver import ApiDriver
from saverproof.savers.targets.event_loop import having_a_loop
from saverproof.scripts.formatting import indented
from saverproof.scripts.writer import ScriptWriter


@dataclass(frozen=True, slots=True)
class AbandonList(Scene):
    """A listing of the thread that is abandoned after its first item; ``times`` says how often."""

    thread: str
    times: int = 1

    about: ClassVar[Contract] = lifecycle.ABANDONED_LIST

    @staticmethod
    def make(model: Model, choose: Random, theme: Theme) -> AbandonList:
        """Leave a listing after its first item."""
        del model
        return AbandonList(choose.choice(theme.threads))

    def objection(self, model: Model) -> str | None:
        return None if self.thread in model.threads else "there is nothing to list"

    def words(self) -> str:
        often = f", {self.times} times" if self.times > 1 else ""
        return f"list({text(self.thread)}), left after its first item{often}"

    def plain(self) -> Step:
        return ListTuples(self.thread)

    def play(self, context: Context) -> None:
        config = address_config(context.real(self.thread), None, None)
        expected = "the first item of the listing"
        leave = partial(_left_first, context.reader, config, self.times)
        if undisturbed(context, self, leave, expected, may_be_unreadable=True):
            context.facts.agree(self.about)

    def write(self, writer: ScriptWriter) -> None:
        lines = writer.first_listed(writer.config(self.thread))
        if self.times > 1:
            lines = [f"for _ in range({self.times}):", *indented(lines)]
        writer.say(*lines)


def left_often(choose: Random) -> tuple[Step, ...]:
    """Return a script in which more listings are left than any usual pool has connections."""
    return (checkpoint(THREAD, 1), checkpoint(THREAD, 2, 1), AbandonList(THREAD, _OFTEN))


_OFTEN = 22
"""More than the connections of any usual pool, which has 5, 10 or 20."""


def _left_first(reader: ApiDriver, config: Config, times: int) -> Any:
    """Abandon ``times`` listings, each after its first item; return the first item of the last one.

    The sync listing is made in a thread with an event loop, as a script's main thread may be. Other
    scenes abandon listings in threads without a loop.
    """
    with having_a_loop() if reader.api == "sync" else nullcontext():
        return [reader.first_listed(config) for _ in range(times)][-1]
