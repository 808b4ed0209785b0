"""The scene of a shallow copy of a saver, as ``with_allowlist`` makes. The saver must outlive the
copy.
"""

from __future__ import annotations

import copy
import gc
import weakref
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
from saverproof.programs.steps.definitions import Step
from saverproof.programs.theme import Theme
from saverproof.scripts.writer import ScriptWriter


@dataclass(frozen=True, slots=True)
class Clone(Scene):
    """A shallow copy with another serializer object, as ``with_allowlist`` makes, used from then
    on.
    """

    about: ClassVar[Contract] = lifecycle.SHALLOW_CLONE

    def words(self) -> str:
        return "go on with a shallow copy that has another serializer"

    def play(self, context: Context) -> None:
        def clone() -> None:
            copied = copy.copy(context.store.saver)
            copied.serde = copy.copy(copied.serde)
            context.store.use(copied)

        if undisturbed(context, self, clone, "a shallow copy to work"):
            context.facts.agree(self.about)

    def write(self, writer: ScriptWriter) -> None:
        writer.say("clone = copy.copy(saver)", "clone.serde = JsonPlusSerializer()")
        writer.receiver = "clone"


@dataclass(frozen=True, slots=True)
class DropClone(Scene):
    """The end of a shallow copy; the saver itself is used again."""

    about: ClassVar[Contract] = lifecycle.SHALLOW_CLONE

    def words(self) -> str:
        return "drop the shallow copy and go on with the saver"

    def play(self, context: Context) -> None:
        def drop() -> None:
            kept = _sign_of_life(context.store.drivers[0].saver)
            context.store.use(context.store.saver)
            if kept() not in (None, context.store.saver):
                gc.collect()

        if undisturbed(context, self, drop, "the saver to be unharmed"):
            context.facts.agree(self.about)

    def write(self, writer: ScriptWriter) -> None:
        if writer.receiver == "clone":
            writer.say("del clone", "gc.collect()")
            writer.receiver = "saver"


CLONES = (Clone, DropClone)


def clone_or_drop(model: Model, choose: Random, theme: Theme) -> Step:
    """Go on through a shallow copy, or drop the copy: nothing in LangGraph closes one."""
    del model, theme
    kind: Callable[[], Step] = choose.choice(CLONES)
    return kind()


def _sign_of_life(saver: Any) -> Callable[[], Any]:
    """Return a function that gives the saver while it exists, then None.

    For a saver that allows no weak references it never gives None.
    """
    try:
        return weakref.ref(saver)
    except TypeError:
        return object
