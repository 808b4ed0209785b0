"""Start a run: find and probe the targets, check the options, register the run's hooks."""

import difflib
import random
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import pytest

from saverproof.contracts.registry import UnknownContract, contract, contracts, families, tables
from saverproof.contracts.sets import contract_set
from saverproof.errors import KnownFileError, OpeningError, SaverproofError, TargetError
from saverproof.families.requests import JUDGING
from saverproof.process.client import JudgeProcess
from saverproof.process.environment import Setting
from saverproof.process.forks import forks_of
from saverproof.process.requests import Child
from saverproof.process.scratch import new_token
from saverproof.process.servers import Servers
from saverproof.run.known.entries import Entry
from saverproof.run.known.reading import read_known
from saverproof.run.known.shipped_files import NONE, SHIPPED, check_shipped, shipped_for
from saverproof.run.plugin import options
from saverproof.run.plugin.asked import narrowed
from saverproof.run.plugin.by_project import BY_PROJECT
from saverproof.run.plugin.collecting import Collecting
from saverproof.run.plugin.controlling import WORKER_INPUT, Controlling
from saverproof.run.plugin.first_screen import wants_tracebacks
from saverproof.run.plugin.judging import KEPT_JUDGE, Judge
from saverproof.run.plugin.progress import FIGURES, FIGURES_INPUT, Progress
from saverproof.run.plugin.run import FOLDER, RUN, Run
from saverproof.run.plugin.suite_only import ASKED
from saverproof.run.plugin.upgrading import with_older_releases
from saverproof.savers.facts import Facts
from saverproof.savers.targets.finding import find
from saverproof.savers.targets.probing import probe
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.requests import PROBING
from saverproof_reports import Baseline, ReportError, load_report, read_artefact
from saverproof_reports.text import slug

FUNCTIONAL = "functional"
"""The value of ``--saver-families`` for all families without faults, kills, callers or graphs."""
IN_PROCESS = "saverproof.run.plugin.in_process"


def start(config: pytest.Config) -> None:
    """Prepare to judge the savers that ``--saver`` names.

    Raises:
        pytest.UsageError: something that the user gave cannot be used; the message is one line.
    """
    _end_by_sigterm(config)
    worker_input = getattr(config, "workerinput", None)
    if worker_input is None:
        servers = Servers(config.getoption("saver_dsn"))
        try:
            earlier = _earlier(config)
            run = _prepare(config, earlier, servers)
        except SaverproofError as error:
            servers.end()
            if isinstance(error, OpeningError) and wants_tracebacks(config):
                sys.stderr.write(error.details)
            # Only here: a worker's usage error would vanish.
            raise pytest.UsageError(error.message) from error
        except BaseException:
            servers.end()
            raise
        controlling = Controlling(config, run, earlier, servers)
        config.pluginmanager.register(controlling, "saverproof-controlling")
        progress = Progress(config, run, options.workers(config))
        config.pluginmanager.register(progress, "saverproof-progress")
    else:
        run = Run.from_text(worker_input[WORKER_INPUT])
        if folder := worker_input.get(FIGURES_INPUT):
            config.stash[FIGURES] = Path(folder)
    if str(run.folder) not in sys.path[:1]:
        sys.path.insert(0, str(run.folder))
    config.stash[RUN] = run
    config.stash[KEPT_JUDGE] = Judge(run, _start_of_children(config, run))
    config.pluginmanager.register(Collecting(config), "saverproof-collecting")


def _end_by_sigterm(config: pytest.Config) -> None:
    """Let SIGTERM, by which CI servers end a run, leave nothing behind, as Ctrl-C does."""
    here = threading.current_thread() is threading.main_thread()
    if here and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _interrupt_once)
        config.add_cleanup(_no_longer)


def _no_longer() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _interrupt_once(number: int, frame: FrameType | None) -> NoReturn:
    """End the run as Ctrl-C does. A second SIGTERM (`timeout` sends two) spares its report."""
    signal.signal(signal.SIGTERM, lambda *_: None)
    raise KeyboardInterrupt


def _start_of_children(config: pytest.Config, run: Run) -> Callable[[], Child]:
    """Return the function that starts a child which judges."""
    if not run.in_process:
        return partial(JudgeProcess, Setting.current(run.folder, run.token), JUDGING)
    # Imported by pytest when it is asked for: it imports every family, which takes seconds.
    config.pluginmanager.import_plugin(IN_PROCESS)
    module: Any = config.pluginmanager.get_plugin(IN_PROCESS)
    start: Callable[[], Child] = module.InProcess
    return start


def _prepare(config: pytest.Config, earlier: Mapping[str, Any] | None, servers: Servers) -> Run:
    folder = Path(config.invocation_params.dir)
    families = _families(config.getoption("saver_families"))
    selected = _contracts(config.getoption("saver_contracts"))
    if selected is not None:
        families = _families_of(selected, families)
    known_option = config.getoption("saver_known")
    shipped = known_option in (None, SHIPPED)
    shared = () if shipped or known_option == NONE else read_known(folder / known_option)
    refs = [find(saver, folder) for saver in dict.fromkeys(config.getoption("saver"))]
    setting = Setting.current(folder)
    _fork_children(config)
    # Each probe waits for a child most of the time.
    with ThreadPoolExecutor(max_workers=4) as pool:
        savers = tuple(pool.map(lambda ref: probe(ref, setting, servers), refs))
    servers.check_all_used()
    savers = with_older_releases(savers, config.getoption("saver_upgrade_from"))
    _check_asked_for(families or (), savers)
    _check_names(savers)
    _check_slugs(savers)
    _check_apis(savers, config.getoption("saver_api"))
    items = None
    if (asked := config.stash.get(ASKED, None)) is not None:
        if selected is not None:
            raise SaverproofError(
                "--saver-contracts: found node ids of contracts beside it, expected one of the two"
            )
        left = narrowed(asked, savers, config.getoption("saver_api"))
        selected, items = left.contracts, left.items
    report = config.getoption("saver_report")
    if known_option == SHIPPED:
        for facts in savers:
            check_shipped(facts)
    known = {facts["name"]: _known(facts, shared, shipped=shipped) for facts in savers}
    by_project = config.stash.get(BY_PROJECT, False)
    _check_examples(known, folder / (report or FOLDER))
    _check_pinned(savers, folder / (report or FOLDER))
    return Run(
        savers=savers,
        known=known,
        shipped=shipped,
        families=families,
        contracts=selected,
        pinned=_pinned(config.getoption("saver_contracts_version")),
        apis=config.getoption("saver_api"),
        profile=config.getoption("saver_profile"),
        seed=_seed(config),
        watchdog_s=config.getoption("saver_watchdog"),
        in_process=config.getoption("saver_in_process"),
        folder=folder,
        report=folder / (report or FOLDER),
        report_always=report is not None,
        token=new_token(),
        items=items,
        workers=options.workers(config),
        budget_s=config.getoption("saver_budget"),
        baseline=None if earlier is None else _baseline(earlier, savers),
        baseline_file=config.getoption("saver_baseline"),
        by_project=by_project,
        beside_tests=by_project and config.args_source is not config.ArgsSource.ARGS,
    )


def _fork_children(config: pytest.Config) -> None:
    """Fork children from one process from now on, until the end of the run."""
    services = (PROBING,) if config.getoption("saver_in_process") else (PROBING, JUDGING)
    forks = ExitStack()
    config.add_cleanup(forks.close)
    forks.enter_context(forks_of(services))


def _earlier(config: pytest.Config) -> Mapping[str, Any] | None:
    """Return the report that ``--saver-baseline`` names, or None without that option.

    It is read at once, because the run may write its own report to the same place.
    """
    option = config.getoption("saver_baseline")
    if option is None:
        return None
    try:
        return load_report(Path(config.invocation_params.dir) / option)
    except ReportError as error:
        raise SaverproofError(f"--saver-baseline: {error}") from None


def _baseline(earlier: Mapping[str, Any], savers: Iterable[Facts]) -> dict[str, dict[str, Any]]:
    """Return what the earlier report excuses, for each of the savers that it has."""
    named = [{"name": facts["name"], "class": facts["saver_class"]} for facts in savers]
    return Baseline.of(earlier, named).savers


def _families(option: str | None) -> tuple[str, ...] | None:
    # Look them up without the option, too: this raises if what another distribution adds is broken.
    there = families()
    if option is None:
        return None
    programs = [table.name for table in tables() if table.phase == FUNCTIONAL]
    names: list[str] = []
    for name in (part.strip() for part in option.split(",")):
        names += programs if name == FUNCTIONAL else [name]
    for name in names:
        if name not in there:
            near = difflib.get_close_matches(name, there, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            known = ", ".join(there)
            raise SaverproofError(f"--saver-families: found {name!r}; {hint}known: {known}")
    return tuple(dict.fromkeys(names))


def _check_asked_for(named: Collection[str], savers: Iterable[Facts]) -> None:
    """Refuse families that judge nothing without an option of their own, which is missing."""
    for table in tables():
        asked = table.name in named and table.asks_for
        if asked and not any(facts.get(table.asks_for) for facts in savers):
            option = f"--saver-{table.asks_for.replace('_', '-')}"
            raise SaverproofError(
                f"--saver-families: found {table.name}, expected {option} with it: nothing of that "
                "family is judged without"
            )


def _contracts(option: str | None) -> tuple[str, ...] | None:
    if option is None:
        return None
    there = [one.id for one in contracts()]
    names = list(dict.fromkeys(part.strip() for part in option.split(",")))
    for name in names:
        if name not in there:
            near = difflib.get_close_matches(name, there, n=1)
            hint = f"did you mean {near[0]}?" if near else "saverproof list contracts shows them"
            raise SaverproofError(f"--saver-contracts: found {name!r}; {hint}")
    return tuple(names)


def _pinned(option: str | None) -> str | None:
    if option is not None:
        try:
            contract_set(option)
        except SaverproofError as error:
            raise SaverproofError(f"--saver-contracts-version: {error.message}") from None
    return option


def _families_of(selected: Iterable[str], families: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the families of the selected contracts.

    Raises:
        SaverproofError: a contract is not of ``families``, those to judge.
    """
    found = tuple(dict.fromkeys(contract(name).family for name in selected))
    for name in selected:
        if families is not None and contract(name).family not in families:
            raise SaverproofError(
                f"--saver-contracts: found {name}, expected one of the families that "
                "--saver-families names"
            )
    return found


def _check_names(savers: Iterable[Facts]) -> None:
    refs: dict[str, TargetRef] = {}
    for facts in savers:
        ref = TargetRef.from_json(facts["ref"])
        other = refs.setdefault(facts["name"], ref)
        if other is not ref:
            raise TargetError(
                f"--saver {other.saver} and --saver {ref.saver}: both are named "
                f"{facts['name']!r}, expected different names (target(name=…))"
            )


def _check_slugs(savers: Iterable[Facts]) -> None:
    names: dict[str, str] = {}
    for facts in savers:
        name = facts["name"]
        other = names.setdefault(slug(name, 30), name)
        if other != name:
            raise TargetError(
                f"--saver: {other!r} and {name!r} would share their files in the report, "
                "expected names that differ in letters and digits"
            )


def _check_apis(savers: Iterable[Facts], apis: str) -> None:
    for facts in savers:
        if apis != "both" and apis not in facts["apis"]:
            only = " and ".join(facts["apis"])
            raise SaverproofError(
                f"--saver-api {apis}: {facts['name']} has no such API, found only {only}"
            )


def _known(facts: Facts, shared: tuple[Entry, ...], *, shipped: bool) -> tuple[Entry, ...]:
    """Return the known violations of a saver. Those of its author come before those of the kit."""
    own = () if facts["known"] is None else read_known(Path(facts["known"]))
    listed = (entry for entry in (*shared, *own) if entry.holds_for(facts["version"]))
    return (*listed, *(shipped_for(facts) if shipped else ()))


def _check_examples(known: Mapping[str, Iterable[Entry]], report: Path) -> None:
    """Raise an error if an example lies in the report folder.

    The run replaces that folder before it reaches the example.
    """
    for entry in (entry for entries in known.values() for entry in entries):
        if entry.example and Path(entry.example).resolve().is_relative_to(report.resolve()):
            raise KnownFileError(
                f"{entry.file}: {entry.id}: found its example in {report}, which this run "
                "replaces; expected it elsewhere (saverproof known copies examples)"
            )


def _check_pinned(savers: Iterable[Facts], report: Path) -> None:
    """Raise an error if an artefact that a target pins is missing, unusable or in the report
    folder.
    """
    for facts in savers:
        for path in facts.get("examples", ()):
            where = f"target {facts['name']!r}: examples"
            try:
                artefact = read_artefact(Path(path))
                contract(artefact["contract"])
            except ReportError as error:
                raise TargetError(f"{where}: {error}") from None
            except UnknownContract as error:
                raise TargetError(f"{where}: {path}: no contract is {error.wanted}") from None
            if Path(path).resolve().is_relative_to(report.resolve()):
                raise TargetError(
                    f"{where}: found {path} in {report}, which this run replaces; expected it "
                    "elsewhere"
                )


def _seed(config: pytest.Config) -> int:
    # Hypothesis's plugin, where it is loaded, takes any text.
    given = config.getoption("hypothesis_seed", None)
    if given is None:
        return 0
    if given == "random":
        return random.SystemRandom().randrange(1 << 32)
    try:
        return int(given)
    except ValueError:
        raise SaverproofError(
            f"--hypothesis-seed: found {given!r}, expected an integer or 'random'"
        ) from None
