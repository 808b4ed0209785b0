"""``saverproof replay``: find out if a recorded violation is still there."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from saverproof.contracts.advice import advice
from saverproof.contracts.contract import Contract
from saverproof.contracts.registry import UnknownContract, contract
from saverproof.families.answer import ReplayAnswer, Status
from saverproof.families.replay_process import run_again
from saverproof.families.requests import JUDGING
from saverproof.process.client import JudgeProcess
from saverproof.process.environment import Setting
from saverproof.process.forks import forks_of
from saverproof.process.scratch import scratch_folder
from saverproof.process.servers import Servers
from saverproof.run.cli._console import told, working
from saverproof.savers.facts import Facts
from saverproof.savers.targets.finding import find
from saverproof.savers.targets.probing import probe
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.requests import PROBING
from saverproof_reports import ReportError, read_artefact
from saverproof_reports.text import harmless, one_line

EXIT = {Status.FIXED: 0, Status.FAILING: 1, Status.UNCLEAR: 2, Status.NOT_SEEN: 3}
"""The exit status for each answer."""

_COLOURS = {
    Status.FIXED: "green",
    Status.FAILING: "red",
    Status.UNCLEAR: "yellow",
    Status.NOT_SEEN: "yellow",
}


@click.command(name="replay")
@click.argument("artefact", type=click.Path(path_type=Path))
@click.option(
    "--saver",
    metavar="X",
    help="run it on this target instead of the recorded one (as for pytest --saver)",
)
@click.option(
    "--watchdog",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    metavar="SECONDS",
    help="how long a call may stay unanswered while nothing moves; six times as long while the "
    "saver is at work (default: 10)",
)
def command(artefact: Path, saver: str | None, watchdog: float) -> None:
    """Run one recorded violation again. Nothing is searched, so it takes a second or two.

    ARTEFACT is a file that a run left in .saverproof/artefacts (or below --saver-report): one
    violated contract with the program, fault or kill that shows it.

    \b
    exit status 0  fixed: the flaw is gone
    exit status 1  still failing
    exit status 2  it cannot be run, or says nothing about the saver as it is now
    exit status 3  not seen again in several tries: it depends on timing, and may still be there

    Run it from the folder in which the saver was judged, so that its target is found again.
    """
    recorded = read_artefact(artefact)
    promised = _promised(recorded, artefact)
    setting = Setting.current()
    ref = _target(recorded, saver, Path(setting.folder), artefact)
    what = f"replaying {promised.id} on {one_line(ref.saver, 80)}"
    with working(what), forks_of((PROBING, JUDGING)), Servers() as servers:
        facts = probe(ref, setting, servers)
        with scratch_folder() as folder, JudgeProcess(setting, JUDGING) as process:
            answer = run_again(process, recorded, facts, folder, silence_s=watchdog)
    for line in _changed(recorded["versions"], facts):
        told(line)
    _tell(answer, f"{promised.id} ({recorded['api']})", facts["name"])
    if answer.status is Status.FAILING:
        _tell_more(promised, answer, recorded.get("steps", ()))
    sys.exit(EXIT[answer.status])


def _promised(recorded: Mapping[str, Any], artefact: Path) -> Contract:
    try:
        return contract(recorded["contract"])
    except UnknownContract as error:
        # Recorded by another version of the kit.
        raise ReportError(f"{one_line(str(artefact))}: {error}") from None


def _target(
    recorded: Mapping[str, Any], saver: str | None, folder: Path, artefact: Path
) -> TargetRef:
    target = recorded["target"]
    if saver is not None or isinstance(target, str):
        return find(saver or target, folder)
    try:
        ref = TargetRef.from_json(target)
    except TypeError:
        where = one_line(str(artefact))
        raise ReportError(f"{where}: target: found no place of a target; give --saver") from None
    if ref.file is not None and not Path(ref.file).is_file():
        where = one_line(str(artefact))
        raise ReportError(f"{where}: found no target in {one_line(ref.file)}; give --saver")
    return ref


def _changed(recorded: Mapping[str, str], facts: Facts) -> Iterator[str]:
    """Yield the packages whose versions differ from those of the recorded run, in words."""
    for name, version in facts["packages"].items():
        if name in recorded and recorded[name] != version:
            yield f"{name} {recorded[name]} when it was recorded, {version} now"


def _tell(answer: ReplayAnswer, what: str, saver: str) -> None:
    said = one_line(answer.said, 600)
    told(
        f"{answer.status}: {what} on {one_line(saver, 80)}: {said}",
        colour=_COLOURS[answer.status],
        bold=True,
    )


def _tell_more(promised: Contract, answer: ReplayAnswer, steps: Iterable[str]) -> None:
    texts = {
        "promise": promised.statement,
        "expected": answer.expected,
        "observed": answer.observed,
    }
    for name, text in texts.items():
        first, *rest = harmless(text).split("\n")
        told(f"  {name:<8}  {first}")
        for line in rest:
            told(f"            {line}")
    for number, step in enumerate(steps, 1):
        told(f"  {'steps' if number == 1 else '':<8}  {number}. {one_line(step, 1_000)}")
    for name, text in advice(promised.id):
        told(f"  {name:<8}  {text}")
