"""The probe's work in the child process: it imports, opens, writes, reopens, and calls
everything.
"""

import contextlib
import dataclasses
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from saverproof.capability import Capability
from saverproof.errors import OpeningError, SaverproofError, TargetError
from saverproof.process.client import JudgeGone, JudgeProcess
from saverproof.process.environment import Setting
from saverproof.process.requests import Progress
from saverproof.process.servers import learn
from saverproof.savers.facts import Facts
from saverproof.savers.targets import probe_calls, probe_pooled
from saverproof.savers.targets.distribution import distribution_of, missing_extra, versions
from saverproof.savers.targets.event_loop import EventLoop, Loop
from saverproof.savers.targets.frames import place, shown
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.opening import fresh_workspace, opened, opened_in_stages
from saverproof.savers.targets.opening_text import EXPECTED, function_of
from saverproof.savers.targets.probe_absent import absent_capabilities, apis_of
from saverproof.savers.targets.probe_separation import what_is_shared
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.requests import FORGETS, LOOK, PROBING, Unknown, Written
from saverproof.savers.targets.target import Target
from saverproof.savers.workspace import Workspace
from saverproof_faults import ClassDriver, FaultsError
from saverproof_faults.servers.keeper_client import Need, announced
from saverproof_faults.servers.server import ServerUnavailable

THREAD = "probe-kept"
_TIMED_OPENINGS = 5
"""How many openings are timed; the best of them counts."""
_PATIENCE_S = 10.0
"""Seconds that another process may be silent without any progress."""


@dataclass(slots=True)
class Survey:
    """The state of a survey of one target."""

    target: Target
    loop: Loop
    stage: Callable[[str], None]

    def prober(self, saver: Any) -> probe_calls.Prober:
        """Return a caller of ``saver`` that reports each call as a stage."""
        return probe_calls.Prober(saver, self.loop, self.stage)


def need(ref: TargetRef, progress: Progress) -> Need | None:
    """Return the server that a target needs, or None.

    Raises:
        TargetError: the target cannot be used.
    """
    progress({"stage": "importing the target"})
    target = load(ref)
    if target.server is None:
        return None
    try:
        return Need.of(target.server)
    except ServerUnavailable as error:
        raise TargetError(f"target {target.name!r}: server: {error}") from None


def survey(data: Unknown, progress: Progress) -> Facts:
    """Find out everything that ``Facts`` has about a target.

    Raises:
        TargetError: the target cannot be judged as it is.
    """

    def stage(text: str) -> None:
        progress({"stage": text})

    stage("importing the target")
    target = load(data.ref)
    learn(dict(data.keepers))
    with EventLoop() as loop:
        try:
            return _facts(Survey(target, loop, stage), Path(data.folder))
        except OpeningError as error:
            raise _placed(error, data.ref, target) from error


def _placed(error: OpeningError, ref: TargetRef, target: Target) -> OpeningError:
    """Return the error with the place in the author's code, and what to install, or to do, if that
    is known.
    """
    cause = error.__cause__
    while isinstance(cause, OpeningError):
        cause = cause.__cause__
    if cause is None:
        return error
    hint = missing_extra(ref) if isinstance(cause, ImportError) else ""
    if target.is_pooled and probe_pooled.is_of_a_prepared_statement(cause):
        hint = f": {probe_pooled.HINT}"
    return OpeningError(f"{error.message}{hint}{place(cause)}", error.stage, shown(cause))


def _try_drivers(target: Target) -> None:
    """Check that each driver the target declares has what the declaration names.

    Raises:
        TargetError: one of them does not.
    """
    for driver in target.drivers:
        if isinstance(driver, ClassDriver):
            try:
                driver.install()()
            except (FaultsError, ImportError) as error:
                raise TargetError(f"target {target.name!r}, drivers: {error}") from None


def _facts(work: Survey, folder: Path) -> Facts:
    target = work.target
    ref = target.ref
    assert ref is not None  # load() sets it
    with fresh_workspace(folder, target) as workspace:
        work.stage("opening the saver")
        with opened_in_stages(target, workspace, work.loop, work.stage) as saver:
            kind = type(saver)
            _try_drivers(target)
            prober = work.prober(saver)
            operations = probe_calls.find_operations(prober)
            apis = apis_of(target, operations)
            if target.is_pooled:
                probe_pooled.require_nothing_prepared(prober, apis, target.name)
            writer = probe_calls.write_first(prober, apis, target.name, THREAD)
            gives_back = probe_calls.reads_back(prober, writer, THREAD)
            absent = absent_capabilities(target, prober, operations, apis)
            call_ms = max(probe_calls.time_of_a_call(prober, api) for api in apis)
            alone = _alone(work, workspace, writer) if target.durable and gives_back else None
        if target.durable and gives_back:
            _reopen(work, workspace, writer)
        _open_by_text(work, workspace)
    if alone is not None or not target.durable:
        absent.setdefault("many_processes", alone or "the target is not durable")
    distribution = distribution_of(kind)
    shares = what_is_shared(target, folder, work.loop, writer, work.stage)
    return Facts(
        name=target.name,
        ref=dataclasses.replace(ref, shares_store=shares is not None).to_json(),
        saver_class=f"{kind.__module__}.{kind.__qualname__}",
        distribution=distribution.name if distribution else None,
        version=distribution.version if distribution else None,
        durable=target.durable,
        apis=apis,
        operations=operations,
        capabilities=[str(name) for name in Capability if name not in absent],
        absent={str(name): reason for name, reason in absent.items()},
        opens_ms=_opening_time(work, folder),
        call_ms=round(call_ms, 3),
        on_server=target.server is not None,
        shares=shares,
        drops=target.drop is not None,
        known=_beside(target.known, ref),
        examples=[str(_beside(path, ref)) for path in target.examples if isinstance(path, str)],
        packages=versions(distribution) | _server_version(target),
    )


def _server_version(target: Target) -> dict[str, str]:
    if target.server is None:
        return {}
    kept = announced()[Need.of(target.server).key]
    return {f"{target.server.title} (server)": kept.version}


def _open_by_text(work: Survey, workspace: Workspace) -> None:
    """Open the saver as scripts do, by the target's own text if it has one.

    Raises:
        TargetError: the text does not open it. No script could show anything.
    """
    target = work.target
    if target.opening is None:
        return
    work.stage("opening the saver by the text for scripts")
    by_text = dataclasses.replace(target, open=function_of(target.opening, target.name))
    try:
        with opened(by_text, workspace, work.loop):
            pass
    except OpeningError as error:
        text = error.message.removeprefix(f"target {target.name!r}: ")
        raise TargetError(
            f"target {target.name!r}: by its text `opening`, {text}; {EXPECTED}"
        ) from None


def _reopen(work: Survey, workspace: Workspace, api: str) -> None:
    name = work.target.name
    work.stage("opening the saver again")
    again = opened_in_stages(work.target, workspace, work.loop, work.stage)
    with _second_opening(name), again as saver:
        found = probe_calls.reads_back(work.prober(saver), api, THREAD)
    if not found:
        raise _forgets(name, "opened again")
    work.stage("opening the saver from another process")
    with _second_opening(name):
        found = _look_elsewhere(work.target, workspace, api)
    if not found:
        raise _forgets(name, "opened from another process")


@contextlib.contextmanager
def _second_opening(name: str) -> Any:
    try:
        yield
    except OpeningError as error:
        text = error.message.removeprefix(f"target {name!r}: ")
        raise OpeningError(
            f"target {name!r}: the second time, on the same workspace, {text}", error.stage
        ) from error
    except JudgeGone as gone:
        raise TargetError(f"target {name!r}: opened from another process: {gone.reason}") from None


def _forgets(name: str, when: str) -> TargetError:
    return TargetError(
        f"target {name!r}: a checkpoint that was put is gone when the saver is {when}; expected an "
        f"equal workspace to show the same data (or {FORGETS} for savers that live in memory)"
    )


def _alone(work: Survey, workspace: Workspace, api: str) -> str | None:
    """Return why a second process cannot use the store while it is open here, or None if it can."""
    work.stage("opening the saver from another process while it is open here")
    try:
        found = _look_elsewhere(work.target, workspace, api)
    except JudgeGone as gone:
        return f"a second process cannot open the store: {gone.reason}"
    except SaverproofError as error:
        return f"a second process cannot open the store: {error.message}"
    return None if found else "a second process does not see what the first one wrote"


def _look_elsewhere(target: Target, workspace: Workspace, api: str) -> bool:
    assert target.ref is not None  # load() sets it
    written = Written(target.ref, workspace.to_json(), api)
    with JudgeProcess(Setting.current(), PROBING) as other:
        return other.ask(LOOK, written, silence_s=_PATIENCE_S)


def look(data: Written, progress: Progress) -> bool:
    """Return whether this process can read the checkpoint that a survey wrote.

    Raises:
        TargetError: the saver cannot be opened here.
    """
    target = load(data.ref)
    workspace = Workspace.from_json(data.workspace)

    def stage(text: str) -> None:
        progress({"stage": text})

    with EventLoop() as loop, opened_in_stages(target, workspace, loop, stage) as saver:
        prober = probe_calls.Prober(saver, loop, stage)
        return probe_calls.reads_back(prober, data.api, THREAD)


def _opening_time(work: Survey, folder: Path) -> float:
    """Return the milliseconds of an opening: the best of several, since the machine has other
    work.
    """
    times: list[float] = []
    for _ in range(_TIMED_OPENINGS):
        with fresh_workspace(folder, work.target) as workspace:
            work.stage("opening the saver in an empty workspace")
            with probe_calls.timed(times), opened(work.target, workspace, work.loop):
                pass
    return round(min(times), 3)


def _beside(path: str | None, ref: TargetRef) -> str | None:
    """Return a path that is relative to the target's file as an absolute one; None stays None."""
    if path is None:
        return None
    file = ref.file or getattr(importlib.import_module(str(ref.module)), "__file__", None)
    base = Path(file).parent if file else Path.cwd()
    return str(base / path)
