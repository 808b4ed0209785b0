"""A comparison as plain text, as Markdown and as an HTML page."""

from collections.abc import Iterator

from saverproof_reports.comparing import SettingDifference
from saverproof_reports.comparison import (
    MEANINGS,
    Change,
    Comparison,
    SaverComparison,
    VerdictChange,
)
from saverproof_reports.markup import code, plain, table
from saverproof_reports.page import render
from saverproof_reports.text import one_line
from saverproof_reports.wording import count_of


def comparison_sentence(comparison: Comparison) -> str:
    """Describe in one sentence what changed."""
    counts = {kind: comparison.count(kind) for kind in VerdictChange}
    if not any(counts.values()):
        return "Nothing got worse, nothing got better."
    worse = counts.pop(VerdictChange.WORSE)
    start = f"{count_of(worse, 'contract')} got worse" if worse else "Nothing got worse"
    return "; ".join([start, *(f"{count} {kind}" for kind, count in counts.items() if count)]) + "."


def comparison_text(comparison: Comparison) -> str:
    """Return the comparison for a terminal, without colours."""
    lines = [comparison_sentence(comparison), *map(_difference, comparison.differences)]
    lines += _alone(comparison)
    for saver in comparison.savers:
        lines += ["", one_line(saver.name)]
        lines += [f"  {_difference(one)}" for one in saver.differences]
        lines += [f"  {figure.what}: {' → '.join(figure.shown)}" for figure in saver.figures]
        lines += [f"  {_line(change)}" for change in saver.changes]
        lines += [f"  costs more: {one.what}: {one.old} → {one.new}" for one in saver.worse_laws]
        lines.append(f"  unchanged: {_unchanged(saver)}")
    return "\n".join(lines) + "\n"


def comparison_markdown(comparison: Comparison) -> str:
    """Return the comparison as GitHub-flavoured Markdown."""
    parts = ["# saverproof compare", f"**{plain(comparison_sentence(comparison))}**"]
    settings = [*map(_difference, comparison.differences), *_alone(comparison)]
    if settings:
        parts.append("\n".join(f"- {plain(line)}" for line in settings))
    for saver in comparison.savers:
        parts += [f"## {plain(saver.name)}", *_markdown(saver)]
    return "\n\n".join(parts) + "\n"


def comparison_html(comparison: Comparison) -> str:
    """Return the comparison as one self-contained HTML page."""
    return render(
        "comparison.html.j2",
        comparison=comparison,
        sentence=comparison_sentence(comparison),
        kinds=list(VerdictChange),
        kind_meanings=MEANINGS,
        unchanged=_unchanged,
    )


def _markdown(saver: SaverComparison) -> Iterator[str]:
    if saver.differences:
        yield "\n".join(f"- {plain(_difference(one))}" for one in saver.differences)
    for kind in VerdictChange:
        changes = saver.of(kind)
        if changes:
            rows = [
                [code(one.contract), one.level, one.old or "", one.new or "", plain(one.note)]
                for one in changes
            ]
            title = f"### {kind.value.capitalize()}: {len(changes)}\n\n{MEANINGS[kind]}"
            yield f"{title}\n\n{table(['contract', 'level', 'old', 'new', ''], rows)}"
    if saver.figures:
        rows = [[plain(figure.what), *figure.shown] for figure in saver.figures]
        yield table(["figure", "old", "new"], rows)
    if saver.worse_laws:
        rows = [[plain(one.what), plain(one.old), plain(one.new)] for one in saver.worse_laws]
        yield table(["costs more", "old", "new"], rows)
    yield f"Unchanged: {_unchanged(saver)}"


def _line(change: Change) -> str:
    verdicts = " → ".join(dict.fromkeys((change.old or "absent", change.new or "absent")))
    note = f": {one_line(change.note)}" if change.note else ""
    return f"{change.kind.value}: {change.contract} ({change.level}, {verdicts}){note}"


def _difference(difference: SettingDifference) -> str:
    return one_line(f"different {difference.what}: {difference.old} → {difference.new}")


def _alone(comparison: Comparison) -> list[str]:
    lines = [f"only in the old report: {one_line(name)}" for name in comparison.only_old]
    return lines + [f"only in the new report: {one_line(name)}" for name in comparison.only_new]


def _unchanged(saver: SaverComparison) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in saver.unchanged.items()) or "none"
