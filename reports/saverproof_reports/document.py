"""The report as Markdown: report.md, and the summary of a GitHub job."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from saverproof_reports.causes import also_broken, by_cause, cause_of
from saverproof_reports.diff import diff
from saverproof_reports.families import families, tally, with_verdict
from saverproof_reports.laws import Law, telling_laws
from saverproof_reports.markup import block, code, folded, linked, plain, prose, table, web
from saverproof_reports.mending import AS_IF, FIX, MATTERS, fix_of, mistakes
from saverproof_reports.summary import VERDICTS
from saverproof_reports.unsettled import DO, MEANS, excuse_phrase, groups, heading
from saverproof_reports.wording import (
    MARKS,
    MEANINGS,
    NO_SCRIPT,
    earlier_phrase,
    figures,
    saver_sentence,
    script_phrase,
    sentence,
)

_BUDGET = 900_000  # bytes; GitHub drops the summary of a step that is over 1 MiB


def markdown(report: Mapping[str, Any]) -> str:
    """Return ``report`` as GitHub-flavoured Markdown under 1 MiB. What was left out is counted."""
    savers = report["savers"]
    parts = [f"# saverproof\n\n**{plain(sentence(report))}**"]
    if savers:
        parts.append(_matrix(savers))
    for judged in savers:
        parts += _saver(judged, report["run"])
    parts.append(_environment(report))
    return "\n\n".join(_within_budget(parts)) + "\n"


def _within_budget(parts: Iterable[str]) -> list[str]:
    kept: list[str] = []
    spent = left_out = 0
    for part in parts:
        size = len(part.encode()) + 2
        if spent + size > _BUDGET:
            left_out += 1
            continue
        spent += size
        kept.append(part)
    if left_out:
        kept.append(f"_{left_out} parts are left out here: report.html and report.json have them._")
    return kept


def _matrix(savers: list[Mapping[str, Any]]) -> str:
    head = ["family", *(code(judged["saver"]["name"]) for judged in savers)]
    rows = [
        [family, *(_cell(tally(judged, family)) for judged in savers)]
        for family in families(savers)
    ]
    marks = "; ".join(f"{MARKS[verdict]} {verdict}: {MEANINGS[verdict]}" for verdict in VERDICTS)
    advice = f"{MARKS['advice']} advice: broken, but no saver must keep it"
    return f"{table(head, rows)}\n\n<sub>{marks}; {advice}.</sub>"


def _cell(counts: Counter[str]) -> str:
    shown = [f"{MARKS[verdict]} {counts[verdict]}" for verdict in VERDICTS if counts[verdict]]
    if counts["advice"]:
        shown.append(f"{MARKS['advice']} {counts['advice']}")
    return " · ".join(shown)


def _saver(judged: Mapping[str, Any], run: Mapping[str, Any]) -> list[str]:
    saver = judged["saver"]
    origin = " ".join(filter(None, [saver["distribution"], saver["version"]]))
    title = f"## {plain(saver['name'])}\n\n{code(saver['class'])}"
    origin = f" from {plain(origin)}" if origin else ""
    parts = [f"{title}{origin} {plain(saver_sentence(judged))}."]
    if figures(judged):
        parts.append("\n".join(f"- {plain(line)}" for line in figures(judged)))
    parts += [
        f"- stale known violation {code(entry['id'])}: {prose(entry['message'])}"
        for entry in judged.get("stale", ())
    ]
    for contract in by_cause(judged, with_verdict(judged, "violated", "known")):
        parts.append(_contract(contract, judged))
        for violation in contract["violations"]:
            if earlier := violation.get("earlier"):
                parts.append(f"_{plain(earlier_phrase(earlier, judged, run))}_")
            parts.append(_violation(violation))
    parts += _unsettled(judged)
    undecided = with_verdict(judged, "unknown", "not-exercised", "not-applicable")
    if undecided:
        parts.append(_undecided(undecided))
    if costs := telling_laws(judged):
        parts.append(_costs(costs))
    return parts


def _costs(costs: Iterable[Law]) -> str:
    rows = [
        [
            plain(law["question"]),
            plain(law["item"]),
            plain(law["order"]),
            plain(law["law"]),
            *(f"{counts:,} at {sizes:,}" for sizes, counts in _ends(law)),
        ]
        for law in costs
    ]
    head = ["asked", "one more", "law", "it", "first", "last"]
    return folded("What operations cost as the store grows", table(head, rows))


def _ends(law: Law) -> Iterator[tuple[int, int]]:
    """Yield the smallest and the largest size, each with its count."""
    for place in (0, -1):
        yield law["sizes"][place], law["counts"][place]


def _unsettled(judged: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines on unsettled contracts: those that one program may break stand together."""
    for number, group in enumerate(groups(judged["contracts"])):
        entry = group[0]["unsettled"]
        names = ", ".join(code(one["id"]) for one in group)
        excuse = excuse_phrase(entry)
        parts = [
            f"### {MARKS['unknown']} Unsettled: {names}{f' ({prose(excuse)})' if excuse else ''}",
            f"**{prose(heading(group))}** ({prose(entry['why'])}).",
            _numbered(entry["steps"]),
            f"{MEANS} {prose(DO)}" if number == 0 else "",
        ]
        yield "\n\n".join(filter(None, parts))


def _contract(contract: Mapping[str, Any], judged: Mapping[str, Any]) -> str:
    advice = " (advice)" if contract["level"] == "should" else ""
    reason = f"\n\nKnown: {linked(contract['reason'])}" if contract["reason"] else ""
    root = cause_of(judged, contract["id"])
    cause = [
        f"Also breaks {code(e['contract'])}: {prose(e['why'])}"
        for e in also_broken(judged, contract["id"])
    ]
    cause += [f"Same cause as {code(root)}"] if root else []
    lines = "".join(f"\n\n{line}" for line in [*_advice(contract, judged), *cause])
    title = "####" if root else "###"
    return (
        f"{title} {MARKS[contract['verdict']]} {code(contract['id'])}{advice}\n\n"
        f"{contract['level']}: {linked(contract['statement'])}  \n"
        f"source: {_source(contract)}{reason}{lines}"
    )


def _advice(contract: Mapping[str, Any], judged: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the finding means to users of an agent, and how to mend it."""
    if contract.get("matters"):
        yield f"**{MATTERS}:** {linked(contract['matters'])}"
    if fix := fix_of(judged, contract):
        page = web(contract.get("page"))
        more = f" [More of this contract](<{page}>)" if page else ""
        yield f"**{FIX}:** {linked(fix)}{more}"
    yield from (f"{AS_IF}: {prose(one)}" for one in mistakes(contract))


def _source(contract: Mapping[str, Any]) -> str:
    link = web(contract.get("link"))
    return f"[{prose(contract['source'])}](<{link}>)" if link else linked(contract["source"])


def _violation(violation: Mapping[str, Any]) -> str:
    lines = [f"{line.mark}{line.text}" for line in diff(*_texts(violation))]
    parts = [
        f"**{prose(violation['summary'])}** ({_where_seen(violation)})",
        _numbered(violation["steps"]),
        "Observed (-) and expected (+):",
        block("\n".join(lines), "diff"),
    ]
    if violation.get("stacks"):
        parts.append(folded("Stacks", block(violation["stacks"], "text")))
    if violation.get("reproducer_source"):
        parts.append(
            folded(
                f"{violation['reproducer']}{script_phrase(violation)}",
                block(violation["reproducer_source"], "python"),
            )
        )
    if violation["artefact"]:
        if not violation["reproducer"]:
            parts.append(NO_SCRIPT)
        parts.append(f"Again: {code('saverproof replay ' + violation['artefact'])}")
    return "\n\n".join(filter(None, parts))


def _where_seen(violation: Mapping[str, Any]) -> str:
    by = violation.get("seen_by")
    return f"{violation['api']}, {violation['phase']}{f', by programs of {by}' if by else ''}"


def _numbered(steps: Iterable[str]) -> str:
    return "\n".join(f"{number}. {code(step)}" for number, step in enumerate(steps, 1))


def _texts(violation: Mapping[str, Any]) -> tuple[str, str]:
    return violation["observed"], violation["expected"]


def _undecided(contracts: list[Mapping[str, Any]]) -> str:
    rows = [
        [code(contract["id"]), contract["verdict"], linked(contract["reason"] or "")]
        for contract in contracts
    ]
    return folded(f"Not decided: {len(rows)}", table(["contract", "verdict", "reason"], rows))


def _environment(report: Mapping[str, Any]) -> str:
    environment, run = report["environment"], report["run"]
    versions = [f"{name} {version}" for name, version in environment["packages"].items()]
    variables = [f"{name}={value}" for name, value in environment.get("variables", {}).items()]
    packages = ", ".join([*versions, *variables])
    command = f"  \n{code(run['command'])}" if run.get("command") else ""
    return (
        f"<sub>Profile {plain(run['profile'])}, seed {run['seed']}, {run['duration_s']:.1f} s, "
        f"{run['workers']} workers, {plain(run['started'])}. Python "
        f"{plain(environment['python'])}, {plain(environment['platform'])}, {plain(packages)}."
        f"</sub>{command}"
    )
