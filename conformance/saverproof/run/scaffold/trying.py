"""Try the ways to open a saver, each as the target that would be written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from saverproof.errors import TargetError, one_line
from saverproof.process.client import JudgeProcess
from saverproof.process.environment import Setting
from saverproof.process.scratch import scratch_folder
from saverproof.process.servers import Servers
from saverproof.run.scaffold.rendering import TARGET_FILE, TargetOpening, function_name, target_text
from saverproof.run.scaffold.requests import INSPECT, INSPECTING, ClassName, SaverClass, WayToOpen
from saverproof.savers.facts import Facts
from saverproof.savers.targets.probing import probe
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.requests import FORGETS

_LIMIT_S = 30.0
"""Seconds to import a saver's class and read its signatures."""
_LONGEST_FAILURE = 300
"""Characters of the reason why a way failed: it becomes a comment in the target."""


Tell = Callable[[str], None]
"""A function that tells the user what is being tried."""


def look_at(wanted: ClassName, setting: Setting) -> SaverClass:
    """Import a class in a child process, and return what is known of it.

    Raises:
        TargetError: it cannot be imported, or is no saver.
    """
    with JudgeProcess(setting, INSPECTING) as child:
        return child.ask(INSPECT, wanted, limit_s=_LIMIT_S)


def opening_of(
    kind: SaverClass, setting: Setting, tell: Tell
) -> tuple[TargetOpening, Facts | None]:
    """Return the best way to open the saver, with its facts.

    That is the first way that gives each workspace a store of its own, else the first that keeps
    its data, else the first that works at all. If none works, the likeliest is returned with the
    reasons of all failures, and without facts.
    """
    shared: tuple[TargetOpening, Facts] | None = None
    forgetful: tuple[TargetOpening, Facts] | None = None
    failures: list[str] = []
    for way in kind.ways:
        if any(one and one[0].way.expression == way.expression for one in (shared, forgetful)):
            continue
        tell(f"trying {way.expression}")
        try:
            opening = TargetOpening(way)
            facts = _tried(kind, opening, setting)
            if not facts.get("shares"):
                return opening, facts
            shared = shared or (opening, facts)
            continue
        except TargetError as error:
            failures.append(f"{way.expression}: {_reason(error)}")
            if FORGETS not in error.message or forgetful is not None:
                continue
        tell(f"trying {way.expression}, in memory")
        passing = TargetOpening(way, durable=False)
        try:
            forgetful = passing, _tried(kind, passing, setting)
        except TargetError as error:
            failures.append(f"{way.expression}, durable=False: {_reason(error)}")
    likeliest = TargetOpening(next(iter(kind.ways), WayToOpen(kind.call)))
    why = "Nothing that was tried opens it:" if failures else "What it needs could not be guessed."
    failed = replace(likeliest, failures=(why, *failures))
    return shared or forgetful or (failed, None)


def _tried(kind: SaverClass, opening: TargetOpening, setting: Setting) -> Facts:
    # It works in the scratch folder, so that a path which the class has of its own, relative to
    # the working folder, is not the store that its author uses.
    with scratch_folder() as folder, Servers() as servers:
        file = folder / TARGET_FILE
        text = target_text(kind, opening, "candidate", Path(TARGET_FILE))
        file.write_text(without_known(text), encoding="utf-8")
        return probe(
            TargetRef("candidate", module=None, file=str(file), attribute=function_name(kind)),
            replace(setting, folder=str(folder)),
            servers,
        )


def without_known(text: str) -> str:
    """Return a target's text without its known-violations file, which does not exist here."""
    return text.replace("    known=", "    # known=")


def _reason(error: TargetError) -> str:
    text = error.message.replace("target 'candidate': ", "").replace("--saver candidate: ", "")
    return one_line(text, _LONGEST_FAILURE)
