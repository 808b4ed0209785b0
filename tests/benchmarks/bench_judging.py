"""What judging costs, and how soon a wrong saver is found out.

First, operations judged per second by the random driver and under Hypothesis, beside the very same
calls made bare on the same saver, each program on a store of its own. Aim in memory: 15,000 by the
random driver, 2,500 under Hypothesis.

Then the seconds from the start of a search to the first violation of the wrong savers that
programs can show, and those that shortening it and finding the contract to blame take. Aim: half
of them caught in 0.1 s, shortened in 1 s.

    PYTHONPATH=. python tests/benchmarks/bench_judging.py
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import click
from tests.conformance.judging_support import facts_of
from tests.conformance.selftest_support import blamed, hunted, judged_by_programs

from saverproof import SaverMachine, Target, Workspace
from saverproof.families.functional.hypothesis_search import search_with_hypothesis
from saverproof.families.machines.explaining.search import ProgramSearch
from saverproof.families.machines.explaining.trials import Trials
from saverproof.families.machines.registry import MACHINES
from saverproof.programs.theme import Theme
from saverproof.savers.facts import METHODS
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.finding import installed
from saverproof.savers.targets.opening import fresh_workspace, opened

Call = tuple[str, tuple[Any, ...], dict[str, Any]]
FAMILIES = ("ordering", "upsert", "pending-writes", "channels", "isolation", "filter", "deletion")
SHARED_MEMORY = Path("/dev/shm")


def chosen(target: Target, folder: Path) -> list[Theme]:
    """The themes of some families that the target's saver can take, scripts and bulk left out."""
    able = set(facts_of(target, folder)["capabilities"])
    return [
        theme
        for family in FAMILIES
        for theme in MACHINES[family].themes
        if theme.script is None and theme.needs <= able and not theme.watch_inputs
    ]


def by_random_driver(trials: Trials, theme: Theme, programs: int) -> None:
    """Run programs as the random driver makes them."""
    for number in range(programs):
        trials.make(theme.with_name_set(number), Random(f"{theme.name}:{number}"))


def by_hypothesis(trials: Trials, theme: Theme, programs: int) -> None:
    """Run programs as Hypothesis makes them."""
    search_with_hypothesis(SaverMachine, trials, theme, programs, 0, lambda _: None)


def recording(target: Target, logs: list[list[Call]]) -> Target:
    """The target, every call of each saver that is opened written to a list of its own."""

    def watch(log: list[Call], name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def call(*arguments: Any, **named: Any) -> Any:
            log.append((name, arguments, named))
            return method(*arguments, **named)

        return call

    @contextmanager
    def open_(workspace: Workspace) -> Iterator[Any]:
        with target.open(workspace) as saver:
            log: list[Call] = []
            logs.append(log)
            for name in METHODS["sync"].values():
                setattr(saver, name, watch(log, name, getattr(saver, name)))
            yield saver

    return Target(name=target.name, open=open_, durable=target.durable)


def bare(target: Target, folder: Path, loop: EventLoop, logs: list[list[Call]]) -> float:
    """Seconds that the recorded calls take by themselves, each list on a store of its own."""
    started = time.perf_counter()
    for log in logs:
        with (
            fresh_workspace(folder, target) as workspace,
            opened(target, workspace, loop) as saver,
        ):
            for name, arguments, named in log:
                try:
                    answer = getattr(saver, name)(*arguments, **named)
                    if name == "list":
                        list(answer)
                except Exception:  # noqa: BLE001 - as it did when it was judged
                    continue
    return time.perf_counter() - started


def judged_per_second(name: str, folder: Path, programs: int) -> None:
    """Print the rates for one target."""
    target = installed()[name].load()
    with EventLoop() as loop:
        for title, drive in (("random driver", by_random_driver), ("Hypothesis", by_hypothesis)):
            logs: list[list[Call]] = []
            for theme in chosen(target, folder):
                drive(Trials(recording(target, logs), folder, loop, ("sync",)), theme, programs)
            trials = Trials(target, folder, loop, ("sync",))
            started = time.perf_counter()
            for theme in chosen(target, folder):
                drive(trials, theme, programs)
            seconds = time.perf_counter() - started
            alone = bare(target, folder, loop, logs)
            calls = sum(map(len, logs))
            click.echo(
                f"{name:<8} {title:<14} {trials.calls / seconds:9,.0f} operations judged/s   "
                f"bare {calls / alone:9,.0f}/s   {(seconds / trials.calls) / (alone / calls):5.1f}x"
            )


class Watch:
    """Notes when a search first saw something, and how long looking into it took."""

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.seen: float | None = None
        self.looking = 0.0

    @contextmanager
    def over_searches(self) -> Iterator[None]:
        """Take the times of every search in the block."""
        look_into = ProgramSearch._look_into

        def timed(search: ProgramSearch, *arguments: Any) -> None:
            started = time.perf_counter()
            self.seen = self.seen or started - self.started
            look_into(search, *arguments)
            self.looking += time.perf_counter() - started

        with mock.patch.object(ProgramSearch, "_look_into", timed):
            yield


def first_violations(folder: Path, seeds: int) -> None:
    """Print how long the wrong savers stay hidden."""
    wrong_savers = judged_by_programs()
    seen: list[float] = []
    shortened: list[float] = []
    hidden = 0
    work = [(wrong, seed) for wrong in wrong_savers for seed in range(seeds)]
    with click.progressbar(work, label="wrong savers") as bar:
        for wrong, seed in bar:
            watch = Watch()
            with watch.over_searches(), tempfile.TemporaryDirectory(dir=folder) as own:
                caught = wrong.breaks in blamed(hunted(wrong, Path(own), seed))
            if not caught:
                hidden += 1
            elif watch.seen is not None:
                seen.append(watch.seen)
                shortened.append(watch.looking)
    click.echo(f"{len(wrong_savers)} wrong savers, {seeds} seeds: {hidden} hunts without a catch")
    for title, figures in (("first violation", seen), ("shortened and blamed", shortened)):
        median = statistics.median(figures)
        ninety = statistics.quantiles(figures, n=10)[-1]
        click.echo(f"  {title:<21} median {median:6.3f} s   nine of ten within {ninety:6.3f} s")


def main() -> None:
    """Measure in memory and on file, then the wrong savers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=30, help="programs a theme")
    parser.add_argument("--seeds", type=int, default=10, help="hunts for each wrong saver")
    options = parser.parse_args()
    base = SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(dir=base) as folder:
        for name in ("memory", "sqlite"):
            judged_per_second(name, Path(folder), options.programs)
        first_violations(Path(folder), options.seeds)


if __name__ == "__main__":
    main()
