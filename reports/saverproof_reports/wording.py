"""The sentences that every format shows: what a run says of its savers."""

from collections.abc import Mapping, Sequence
from typing import Any

from saverproof_reports import unsettled
from saverproof_reports.axes import axes_phrase as axes_phrase

Judged = Mapping[str, Any]

MEANINGS = {
    "held": "judged at least once, never broken",
    "violated": "broken, with a program that shows it",
    "known": "broken, and listed as known",
    "unknown": "the search was cut off, a checker broke, or wrong answers could not be settled: "
    "not a pass",
    "not-exercised": "applies, but was not reached, or the kit has no way to: not a pass",
    "not-applicable": "the saver lacks the capability, or langgraph-checkpoint is older",
}
"""The meaning of each verdict."""

MARKS = {
    "held": "✓",
    "violated": "✗",
    "known": "(✗)",
    "unknown": "?",
    "not-exercised": "–",
    "not-applicable": "n/a",
    "advice": "!",
}
"""The mark of each verdict, and of broken advice, in a table cell: they differ without colours."""


def script_phrase(violation: Judged) -> str:
    """Say how often a script showed what it is for, if that depends on timing."""
    showed = violation.get("showed")
    return f" (seen in {showed} runs of it)" if showed else ""


MADE_BY = {
    "random": "by the random driver",
    "hypothesis": "by Hypothesis",
    "directed": "directed",
    "remembered": "remembered",
    "pinned": "pinned by the author",
}
"""The words for programs, by who made them."""

NO_SCRIPT = "There is no script that shows this by itself: it is replayed from its artefact."
"""The words for a violation that has an artefact and no script."""

NO_STORAGE_FAULT = "no storage fault was tried"
"""The words that qualify a pass, since no fault of the storage was tried."""


def count_of(number: int, noun: str) -> str:
    """Return ``number`` and ``noun``, in the plural if that is right."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def standing(judged: Judged, complete: bool) -> str:
    """Return ``bad`` if the saver fails the run, ``open`` if too little was judged, or ``good``."""
    must = judged["summary"]["must"]
    if (
        must.get("violated")
        or unsettled.failing(judged)
        or any(is_stale_error(entry) for entry in judged.get("stale", ()))
    ):
        return "bad"
    judged_at_all = must.get("held", 0) + must.get("known", 0)
    left_open = must.get("unknown") or untried_phrase(judged)
    return "good" if complete and judged_at_all and not left_open else "open"


def is_stale_error(entry: Mapping[str, Any]) -> bool:
    """Return whether a stale entry of the known-violations file fails the run."""
    severity: str = entry.get("severity", "error")
    return severity == "error"


def run_standing(report: Mapping[str, Any]) -> str:
    """Return the worst standing of the savers of ``report``."""
    found = {standing(judged, report["complete"]) for judged in report["savers"]}
    return next((worst for worst in ("bad", "open") if worst in found), "good" if found else "open")


def saver_sentence(judged: Judged) -> str:
    """Say in one sentence, without the saver's name, what the run says of a saver."""
    must, should = judged["summary"]["must"], judged["summary"]["should"]
    violated, held = must.get("violated", 0), must.get("held", 0)
    apply, musts = _asked(judged, "must")
    if not violated + held + must.get("known", 0):
        start = f"was judged on none of {musts}" if apply else "was judged on no contract"
    elif violated:
        start = f"breaks {violated} of {musts}"
    elif held == apply:
        start = f"keeps the {musts}" if held == 1 else f"keeps all {musts}"
    else:
        start = f"keeps {held} of {musts}"
    untried = [NO_STORAGE_FAULT] if untried_phrase(judged) else []
    open_ = len(unsettled.musts(judged))
    left = _reservations(must, should, _not_selected(judged, "must"), open_)
    return "; ".join([start, *left, *untried, *_stale(judged), *_of_earlier_runs(judged)])


def untried_phrase(judged: Judged) -> str:
    """Say in one sentence that no layer of faults reached the saver, and why; "" if one did."""
    why = judged["faults"].get("untried")
    return f"{NO_STORAGE_FAULT}: {why}." if why else ""


def _not_selected(judged: Judged, level: str) -> int:
    """Return how many contracts of a level the run was not about."""
    return sum(
        one["level"] == level
        and one["verdict"] == "not-exercised"
        and not one.get("selected", True)
        for one in judged["contracts"]
    )


def _of_earlier_runs(judged: Judged) -> list[str]:
    """Say how many of the contracts were judged by an earlier run only."""
    decided = [
        one for one in judged["contracts"] if one["verdict"] in ("held", "violated", "known")
    ]
    kept = [one for one in decided if one["level"] == "must" and one.get("earlier")]
    if not kept:
        return []
    when = sorted({moment(one["earlier"]) for one in kept})
    return [f"{len(kept)} of these as of {' and '.join(when)}, not judged in this run"]


def moment(earlier: Mapping[str, Any]) -> str:
    """Return when an earlier run began."""
    return f"{earlier['started'][:16].replace('T', ' ')} UTC"


def earlier_phrase(earlier: Mapping[str, Any], judged: Judged, run: Mapping[str, Any]) -> str:
    """Say that something is as an earlier run found it, and whether that run was like this one."""
    now = {"version": judged["saver"]["version"], "seed": run["seed"], "profile": run["profile"]}
    then = [f"{name} {earlier[name]}" for name in now if earlier[name] != now[name]]
    same = [name for name in now if earlier[name] == now[name] and now[name] is not None]
    parts = [f"same {', '.join(same)}"] if same else []
    parts += [f"{', '.join(then)} then"] if then else []
    return f"not judged in this run: as of {moment(earlier)} ({'; '.join(parts)})"


def _reservations(
    must: Mapping[str, int], should: Mapping[str, int], not_selected: int, unsettled: int
) -> list[str]:
    said = []
    if must.get("known"):
        said.append(f"{must['known']} known")
    if unsettled:
        said.append(f"{unsettled} unsettled")
    if undecided := must.get("unknown", 0) - unsettled:
        said.append(f"{undecided} undecided")
    if not_reached := must.get("not-exercised", 0) - not_selected:
        said.append(f"{not_reached} not exercised")
    if not_selected:
        said.append(f"{not_selected} not selected")
    if should.get("violated"):
        said.append(f"advice on {should['violated']} more")
    return said


def _asked(judged: Judged, level: str) -> tuple[int, str]:
    """Return how many contracts of a level the run says something about, and the same in words."""
    counts, not_selected = judged["summary"][level], _not_selected(judged, level)
    apply = sum(number for verdict, number in counts.items() if verdict != "not-applicable")
    number = apply - not_selected
    if not_selected:
        return number, count_of(number, level)
    return number, f"{count_of(number, level)} that {'applies' if number == 1 else 'apply'}"


def advice_sentence(judged: Judged) -> str:
    """Say what the run found of advice, the contracts that good savers keep; "" if none applies."""
    broken = judged["summary"]["should"].get("violated", 0)
    apply, shoulds = _asked(judged, "should")
    if not apply:
        return ""
    verb = "are" if broken > 1 else "is"
    return f"{broken or 'none'} of {shoulds} {verb} broken (advice)"


def _stale(judged: Judged) -> list[str]:
    entries = sum(map(is_stale_error, judged.get("stale", ())))
    if not entries:
        return []
    return ["1 known violation is stale" if entries == 1 else f"{entries} known ones are stale"]


def sentence(report: Mapping[str, Any]) -> str:
    """Return the verdict of the whole run in one sentence."""
    savers: Sequence[Judged] = report["savers"]
    cut = "" if report["complete"] else "The run was cut short. "
    if not savers:
        return f"{cut}No saver was judged."
    if len(savers) == 1:
        return f"{cut}{savers[0]['saver']['name']} {saver_sentence(savers[0])}."
    breaking = [one for one in savers if one["summary"]["must"].get("violated")]
    if not breaking:
        open_ones = sum(standing(one, report["complete"]) != "good" for one in savers)
        rest = f"; {open_ones} not fully judged" if open_ones else ""
        return f"{cut}None of {len(savers)} savers breaks a contract{rest}."
    broken = ", ".join(
        f"{one['saver']['name']} {one['summary']['must']['violated']}" for one in breaking
    )
    verb = "breaks" if len(breaking) == 1 else "break"
    return f"{cut}{len(breaking)} of {len(savers)} savers {verb} contracts: {broken}."


def figures(judged: Judged) -> list[str]:
    """Return the counts of operations, differences, faults, kills and disk images as phrases.

    Counts that are zero are left out.
    """
    faults, crash = judged["faults"], judged["crash"]
    power, timing = judged["power"], judged["timing"]
    said = []
    if untried := untried_phrase(judged):
        said.append(untried)
    if shared := judged.get("workspaces"):
        said.append(shared)
    if timing["operations"]:
        said.append(
            f"{count_of(timing['operations'], 'operation')} judged in {timing['total_s']:.1f} s, "
            f"{timing['saver_s']:.1f} s of it in the saver"
        )
    if differences := differences_phrase(judged):
        said.append(differences)
    if programs := programs_phrase(judged):
        said.append(programs)
    if axes := axes_phrase(judged):
        said.append(axes)
    if faults["points"]:
        said.append(f"{faults['injected']:,} faults fired at {count_of(faults['points'], 'place')}")
    if crash["trials"]:
        recovery = crash["recovery_ms"]
        said.append(
            f"killed {crash['trials']:,} times: {crash['lost']:,} lost, {crash['torn']:,} torn, "
            f"recovery {recovery['p50']:.1f} ms (p50), {recovery['p99']:.1f} ms (p99)"
        )
        said += [f"killed at {share}" for share in [places_phrase(judged)] if share]
    if power["images"]:
        said += filter(None, (power_phrase(power), failed_syncs_phrase(power)))
    said += filter(None, (left_out_phrase(judged), beside_phrase(judged)))
    return said


def places_phrase(judged: Judged) -> str:
    """Say at how many places of fixed programs a process was killed, by operation.

    The result is "" if nobody counted them.
    """
    crash = judged["crash"]
    there, killed = crash.get("places", {}), crash.get("places_killed", {})
    if not there:
        return ""
    each = [f"{killed.get(name, 0):,} of {count:,} in {name}" for name, count in there.items()]
    total = f"{sum(killed.values()):,} of {count_of(sum(there.values()), 'place')}"
    return f"{total} of the fixed programs ({', '.join(each)})"


def differences_phrase(judged: Judged) -> str:
    """Say what became of the differences that were seen; "" if none was seen."""
    counts = judged.get("differences", {})
    if not counts.get("seen"):
        return ""
    return (
        f"{count_of(counts['seen'], 'difference')} seen: {counts['shown']:,} shown, "
        f"{counts['explained']:,} explained by these, {counts['unknown']:,} not settled"
    )


def programs_phrase(judged: Judged) -> str:
    """Say who made the programs, and how many steps they took; "" if there was none."""
    shares = judged.get("programs", {})
    total = sum(share["programs"] for share in shares.values())
    parts = [
        f"{shares[name]['programs']:,} {made_by} ({count_of(shares[name]['steps'], 'step')})"
        for name, made_by in MADE_BY.items()
        if name in shares
    ]
    return f"{count_of(total, 'program')}: {', '.join(parts)}" if total else ""


def beside_phrase(judged: Judged) -> str:
    """Say which contracts were seen broken that the run is not about; "" if none was."""
    names = dict.fromkeys(one["contract"] for one in judged.get("beside", ()))
    return f"seen beside what was asked: {', '.join(names)}" if names else ""


def left_out_phrase(judged: Judged) -> str:
    """Say what the budget of a run left out; "" if nothing."""
    left = [
        f"{entry['planned'] - entry['done']:,} of {entry['planned']:,} {entry['what']} "
        f"({item['family']}, {item['api']})"
        for item in judged.get("budget", ())
        for entry in item["left_out"]
    ]
    return f"left out for want of time: {'; '.join(left)}" if left else ""


def power_phrase(power: Mapping[str, Any]) -> str:
    """Say in one phrase what a power cut may do to the saver's data."""
    setting = f" ({power['setting']})" if power.get("setting") else ""
    images = count_of(power["images"], "disk image")
    return f"a power cut {_loses(power)}{setting}: {images}{_damaged(power)}"


def failed_syncs_phrase(power: Mapping[str, Any]) -> str:
    """Say in one phrase what a power cut may do once a sync has failed; "" if none was failed."""
    failing = power.get("failed_syncs")
    if not failing or not failing["images"]:
        return ""
    places = f"{failing['failed']:,} of {count_of(failing['places'], 'sync')}"
    images = count_of(failing["images"], "disk image")
    return (
        f"after a failed sync, a power cut {_loses(failing)} "
        f"({places}): {images}{_damaged(failing)}"
    )


def _loses(power: Mapping[str, Any]) -> str:
    lost = power["lost_acknowledged_max"]
    up_to = f"up to {count_of(lost, 'acknowledged operation')}"
    return f"loses {up_to if lost else 'no acknowledged work'}"


def _damaged(power: Mapping[str, Any]) -> str:
    found = ((name, power.get(name, 0)) for name in ("corrupt", "torn", "reordered"))
    return "".join(f", {count:,} of them {name}" for name, count in found if count)
