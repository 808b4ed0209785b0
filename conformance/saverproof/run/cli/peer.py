"""``saverproof peer``: the verdict of LangGraph's own conformance suite, in its own words."""

import importlib.metadata
import sys
from pathlib import Path

import click

from saverproof.process.client import JudgeProcess
from saverproof.process.environment import Setting
from saverproof.process.forks import forks_of
from saverproof.process.scratch import scratch_folder
from saverproof.process.servers import Servers
from saverproof.run.cli._console import told, working
from saverproof.run.peer.crosswalk import contracts_of
from saverproof.run.peer.requests import PEER, VALIDATE, PeerPlan, PeerVerdict
from saverproof.savers.targets.finding import find
from saverproof.savers.targets.probing import probe
from saverproof.savers.targets.requests import PROBING
from saverproof_reports.text import one_line

_SUITE = "langgraph-checkpoint-conformance"
_LIMIT_S = 600.0
"""Seconds for the suite. Its tests take seconds on a local store, and the user must not wait for
ever for a saver that never answers.
"""


@click.command(name="peer", short_help="Run LangGraph's own conformance suite on SAVER.")
@click.argument("saver")
def command(saver: str) -> None:
    """Run LangGraph's own suite (langgraph-checkpoint-conformance) on SAVER, as it is installed.

    SAVER is what pytest --saver takes. The suite calls the async API; a saver's sync API is put
    behind an async one for it. Its verdict is told in its own words: the level (FULL, BASE+PARTIAL,
    BASE, NONE) and how many capabilities passed. A test that fails is named with the contracts of
    saverproof that ask the same.

    \b
    exit status 0  FULL through each API
    exit status 1  a test failed
    exit status 2  the suite is not installed, or SAVER cannot be opened
    """
    try:
        version = importlib.metadata.version(_SUITE)
    except importlib.metadata.PackageNotFoundError:
        raise click.UsageError(
            f"found no {_SUITE}, expected it installed: pip install {_SUITE}"
        ) from None
    setting = Setting.current()
    setting.apply()
    ref = find(saver, Path(setting.folder))
    verdicts = {}
    what = f"running {_SUITE} on {one_line(saver, 80)}"
    with working(what), forks_of((PROBING,)), Servers() as servers, scratch_folder() as folder:
        facts = probe(ref, setting, servers)
        for api in facts["apis"]:
            with JudgeProcess(setting, PEER) as child:
                plan = PeerPlan(dict(facts["ref"]), api, str(folder))
                verdicts[api] = child.ask(VALIDATE, plan, limit_s=_LIMIT_S)
    told(f"{_SUITE} {version} on {one_line(facts['name'], 80)}", bold=True)
    for api, verdict in verdicts.items():
        _tell(api, verdict)
    if any(any(verdict.tests.values()) for verdict in verdicts.values()):
        sys.exit(1)


def _tell(api: str, verdict: PeerVerdict) -> None:
    failed = {test: why for test, why in verdict.tests.items() if why}
    bridge = ", by a bridge to the async API that it calls" if api == "sync" else ""
    right = len(verdict.tests) - len(failed)
    told(
        f"  {api:<5}  {verdict.level} ({verdict.passed}/{verdict.detected}), "
        f"{right} of {len(verdict.tests)} tests passed{bridge}",
        colour="red" if failed else "green",
    )
    for test, why in failed.items():
        same = ", ".join(contracts_of(test)) or "no contract of saverproof"
        told(f"         failed  {test}: {why}  (asked by {same})")
    if verdict.missing:
        told(f"         not implemented: {', '.join(verdict.missing)}")
