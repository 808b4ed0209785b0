"""Write the lines that the terminal shows of a run, at its start and at its end."""

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from saverproof.contracts.sets import contract_set
from saverproof.run.known.shipped_files import shipped_line
from saverproof.run.plugin.first_screen import Screen, some
from saverproof.run.plugin.run import Run
from saverproof.savers.facts import Facts
from saverproof.suite.planning import shared_store
from saverproof.suite.timing import in_words
from saverproof_reports import compare
from saverproof_reports.comparison import VerdictChange
from saverproof_reports.comparison_formats import comparison_sentence
from saverproof_reports.families import families, tally, with_verdict
from saverproof_reports.summary import summarise
from saverproof_reports.text import one_line
from saverproof_reports.unsettled import failing
from saverproof_reports.wording import beside_phrase, count_of, left_out_phrase, saver_sentence

_COLUMNS = ("held", "violated", "known", "advice", "unknown", "not-exercised", "not-applicable")
_NO_PASS = ("unknown", "not-exercised")
_REASON = 110
"""Characters of a reason beside a verdict, so that both take two lines at most."""
_BEYOND = 1.3
"""A run may take its estimated time multiplied by this before the line on its time says why it took
longer.
"""


def header(run: Run) -> list[str]:
    """Return the lines that pytest shows at the top."""
    lines = []
    for facts in run.savers:
        origin = facts["distribution"] or os.path.relpath(facts["ref"]["file"] or ".", run.folder)
        version = f" {facts['version']}" if facts["version"] else ""
        apis = " and ".join(facts["apis"])
        lines.append(f"saver: {facts['name']} ({facts['saver_class']}, {origin}{version}; {apis})")
        if shares := facts.get("shares"):
            lines.append(f"{facts['name']}: {shared_store(shares)}")
        if run.shipped and (known := shipped_line(facts)):
            lines.append(known)
    if run.baseline_file is not None:
        lines.append(f"baseline: {one_line(run.baseline_file)}")
    installed = run.savers[0]["packages"]["langgraph-checkpoint"]
    lines.append(
        f"saverproof: langgraph-checkpoint {installed}, profile {run.profile}, seed {run.seed}, "
        f"watchdog {run.watchdog_s:g} s"
    )
    if run.pinned is not None:
        newer = len(contract_set(run.pinned).newer())
        said = (
            f"{count_of(newer, 'newer must')} of this release only advise"
            if newer
            else "no must is newer"
        )
        lines.append(f"contracts: those of {run.pinned}; {said}")
    return lines


def estimates(run: Run) -> list[str]:
    """Return a line for each saver on how long its selected items take."""
    return [_time(facts, run) for facts in run.savers if facts["name"] in run.times]


def _time(facts: Facts, run: Run) -> str:
    """Describe how long a saver's items take, and how that was limited if it would be too long."""
    plan = run.times[facts["name"]]
    said = f"{facts['name']}: about {in_words(plan.estimate_s)}"
    if not plan.is_limited:
        # What is broken is looked into, and nobody knows how much of that there is.
        return f"{said}, longer if something is broken"
    return (
        f"{said}, not {in_words(plan.whole_s)} (a call takes {facts.get('call_ms', 0.0):.1f} ms, "
        f"an opening {facts['opens_ms']:.0f} ms): what is left out is named"
    )


def time_taken(estimate_s: float, took_s: float, broken: bool) -> str:
    """Describe the time that the run took beside its estimate, and why they may differ."""
    said = f"time: {in_words(took_s)}, estimated {in_words(estimate_s)}"
    if broken and took_s > _BEYOND * estimate_s:
        return f"{said} (without looking into what is broken)"
    return said


def write(screen: Screen, whole: Mapping[str, Any], ran: Collection[str]) -> None:
    """Write everything about one saver.

    That covers the families that ``ran``, and contracts of others that were found broken or
    unknown. If something fails, what to fix comes first, and the rest is only counted.
    """
    terminal = screen.terminal
    contracts = [
        one
        for one in whole["contracts"]
        if one["family"] in ran or one["violations"] or one["verdict"] == "unknown"
    ]
    judged = {**whole, "contracts": contracts, "summary": summarise(contracts)}
    red = bool(judged["summary"]["must"]["violated"] or failing(judged))
    terminal.line(f"{judged['saver']['name']} {saver_sentence(judged)}", bold=True, red=red)
    screen.write(judged)
    screen.write_unsettled(judged)
    if not red or screen.details:
        lines = [*_table(judged), *_others(judged)]
    else:
        lines = list(_known_by_kit(judged, screen.run))
    for line in lines:
        terminal.line(line)
    terminal.line(_operations(judged))
    for line in _left_out_for_time(judged):
        terminal.line(line)
    if beside := beside_phrase(judged):
        terminal.line(beside, yellow=True)
    left_out = [family for family in families([whole]) if family not in ran]
    if left_out:
        terminal.line(f"not in this run: {', '.join(left_out)}")
    for entry in judged.get("stale", ()):
        error = entry["severity"] == "error"
        terminal.line(f"stale: {entry['message']}", red=error, yellow=not error)


def _left_out_for_time(judged: Mapping[str, Any]) -> Iterator[str]:
    if said := left_out_phrase(judged):
        yield f"{said}; --saver-budget gives it more time"


def undecided_line(name: str, contracts: Sequence[Mapping[str, Any]], *, strict: bool) -> str:
    """Describe how many musts of a saver were not judged, and which."""
    counts = Counter(contract["verdict"] for contract in contracts)
    parts = [f"{counts[verdict]} {verdict}" for verdict in _NO_PASS if counts[verdict]]
    ids = some([contract["id"] for contract in contracts])
    strictness = "" if strict else "; --saver-strict fails on them"
    musts = "must" if len(contracts) == 1 else "musts"
    return f"{name}: {len(contracts)} {musts} not judged ({', '.join(parts)}): {ids}{strictness}"


def write_comparison(
    terminal: Any, earlier: Mapping[str, Any], report: Mapping[str, Any], run: Run
) -> None:
    """Write what got worse and what got better since the baseline."""
    terminal.line("")
    name = one_line(str(run.baseline_file))
    missing = [facts["name"] for facts in run.savers if facts["name"] not in (run.baseline or {})]
    for absent in missing:
        terminal.line(
            f"baseline {name}: it does not have {absent}, and excuses nothing", yellow=True
        )
    if len(missing) == len(run.savers):
        return
    comparison = compare(earlier, report)
    worse = bool(comparison.exit_status)
    said = comparison_sentence(comparison)
    terminal.line(f"baseline {name}: {said}", red=worse, green=not worse)
    for saver in comparison.savers:
        for kind in (VerdictChange.WORSE, VerdictChange.BETTER):
            for change in saver.of(kind):
                note = f": {one_line(change.note)}" if change.note else ""
                terminal.line(f"  {saver.name}: {kind.value}: {change.contract}{note}")


def _operations(judged: Mapping[str, Any]) -> str:
    timing = judged["timing"]
    parts = [
        f"{timing['operations']:,} operations judged in {timing['total_s']:.1f} s "
        f"({timing['saver_s']:.1f} s inside the saver)"
    ]
    if judged["faults"]["injected"]:
        faults = judged["faults"]
        parts.append(f"{faults['injected']:,} faults at {faults['points']:,} places")
    if judged["crash"]["trials"]:
        parts.append(f"{judged['crash']['trials']:,} kills")
    if judged["power"]["images"]:
        parts.append(f"{judged['power']['images']:,} power cuts")
    return ", ".join(parts)


def _table(judged: Mapping[str, Any]) -> Iterator[str]:
    rows = {family: tally(judged, family) for family in families([judged])}
    columns = [name for name in _COLUMNS if any(row[name] for row in rows.values())]
    width = max(len(family) for family in rows)
    yield "  ".join([" " * width, *columns])
    for family, row in rows.items():
        cells = [f"{row[name] or '·':>{len(name)}}" for name in columns]
        yield "  ".join([f"{family:<{width}}", *cells])


def _others(judged: Mapping[str, Any]) -> Iterator[str]:
    for verdict in ("known", "unknown", "not-exercised", "not-applicable"):
        yield from _reasons(judged, verdict)


def _known_by_kit(judged: Mapping[str, Any], run: Run) -> Iterator[str]:
    """Yield the flaws that the kit excused, for users who have not listed them themselves."""
    ids = {entry.id for entry in run.known[judged["saver"]["name"]] if entry.from_kit}
    known = [one for one in judged["contracts"] if one["id"] in ids]
    yield from _reasons({"contracts": known}, "known")


def _reasons(judged: Mapping[str, Any], verdict: str) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for contract in with_verdict(judged, verdict):
        if "unsettled" in contract:
            continue
        reasons.setdefault(str(contract["reason"]), []).append(contract["id"])
    for reason, ids in reasons.items():
        yield f"{verdict}: {some(ids)}: {_cut(reason)}"


def _cut(text: str) -> str:
    """Return a reason, without its last clauses if it is long, and cut between words."""
    if len(text) <= _REASON:
        return text
    short = text[:_REASON]
    kept = next((k for mark in ("; ", ", ", " ") if (k := short.rpartition(mark)[0])), short)
    return f"{kept} …"
