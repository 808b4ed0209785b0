"""Tries the ways to open a saver, each as the target that would be written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from saverproof.errors import TargetError, one_line
from saverproof.facts import Facts
from saverproof.process.client import JudgeProcess
from saverproof.process.environment import Setting
from saverproof.process.scratch import scratch_folder
from saverproof.scaffold.rendering import TARGET_FILE, UNKNOWN, Opening, function_name, target_text
from saverproof.scaffold.requests import INSPECT, INSPECTING, ClassName, SaverClass
from saverproof.targets.probing import probe
from saverproof.targets.reference import TargetRef
from saverproof.targets.requests import FORGETS

_LIMIT_S = 30.0
_LONGEST_FAILURE = 160


def look_at(wanted: ClassName, setting: Setting) -> SaverClass:
    """What there is to know of a class.

    Raises:
        TargetError: it cannot be imported, or is no saver.
    """
    with JudgeProcess(setting, INSPECTING) as child:
        return child.ask(INSPECT, wanted, limit_s=_LIMIT_S)


def opening_of(
    kind: SaverClass, setting: Setting, tell: Callable[[str], None]
) -> tuple[Opening, Facts | None]:
    """The first way that opens a saver which keeps what it is given, with its facts.

    A way whose saver forgets is taken only if none keeps. Without any that opens it, the likeliest
    one is returned with the reasons why each failed, and no facts.
    """
    failures: list[str] = []
    forgetful: tuple[Opening, Facts] | None = None
    for way in kind.ways:
        if forgetful is not None and way.expression == forgetful[0].way.expression:
            continue
        tell(f"trying {way.expression}")
        try:
            return Opening(way), _tried(kind, Opening(way), setting)
        except TargetError as error:
            failures.append(f"{way.expression}: {_reason(error)}")
            if FORGETS not in error.message or forgetful is not None:
                continue
        tell(f"trying {way.expression}, in memory")
        passing = Opening(way, durable=False)
        try:
            forgetful = passing, _tried(kind, passing, setting)
        except TargetError as error:
            failures.append(f"{way.expression}, durable=False: {_reason(error)}")
    if forgetful is not None:
        return forgetful
    likeliest = Opening(next(iter(kind.ways), UNKNOWN))
    return replace(likeliest, failures=("Nothing that was tried opens it:", *failures)), None


def _tried(kind: SaverClass, opening: Opening, setting: Setting) -> Facts:
    with scratch_folder() as folder:
        file = folder / TARGET_FILE
        text = target_text(kind, opening, "candidate", Path())
        file.write_text(text.replace("    known=", "    # known="), encoding="utf-8")
        return probe(
            TargetRef("candidate", module=None, file=str(file), attribute=function_name(kind)),
            setting,
        )


def _reason(error: TargetError) -> str:
    text = error.message.replace("target 'candidate': ", "").replace("--saver candidate: ", "")
    return one_line(text, _LONGEST_FAILURE)
