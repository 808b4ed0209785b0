"""Parts of a comparison: matching savers, figures, and settings that differ."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Judged = Mapping[str, Any]
Report = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SettingDifference:
    """A setting that differs between the runs."""

    what: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured figure of both runs; ``unit`` is empty for counts."""

    what: str
    old: float
    new: float
    unit: str

    @property
    def shown(self) -> tuple[str, str]:
        """Both figures with their unit."""
        form = "{:,.1f} {}" if self.unit else "{:,.0f}"
        return form.format(self.old, self.unit), form.format(self.new, self.unit)


_FIGURES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("recovery after a kill, p50", "ms", ("crash", "recovery_ms", "p50")),
    ("recovery after a kill, p99", "ms", ("crash", "recovery_ms", "p99")),
    ("kills", "", ("crash", "trials")),
    ("kills that lost an acknowledged operation", "", ("crash", "lost")),
    ("kills that tore an operation", "", ("crash", "torn")),
    ("most operations lost in a power cut", "", ("power", "lost_acknowledged_max")),
    ("corrupt disk images after a power cut", "", ("power", "corrupt")),
    ("faults that fired", "", ("faults", "injected")),
    ("operations judged", "", ("timing", "operations")),
    ("time spent in the saver", "s", ("timing", "saver_s")),
)


def figures(old: Judged, new: Judged) -> Iterator[Figure]:
    """Yield the figures of one saver in both reports, except those that are zero in both."""
    for what, unit, path in _FIGURES:
        before, after = _at(old, path), _at(new, path)
        if before or after:
            yield Figure(what, before, after, unit)


def _at(judged: Judged, path: Sequence[str]) -> float:
    value: Any = judged
    for name in path:
        value = value[name]
    return float(value)


def differences(old: Report, new: Report) -> Iterator[SettingDifference]:
    """Yield how the runs and their environments differ, seeds and versions included."""
    for what in ("profile", "seed"):
        yield from _differing(what, old["run"][what], new["run"][what])
    for what in ("python", "platform"):
        yield from _differing(what, old["environment"][what], new["environment"][what])
    for what in ("packages", "variables"):
        before, after = (one["environment"].get(what, {}) for one in (old, new))
        for name in {**before, **after}:
            yield from _differing(name, before.get(name, "none"), after.get(name, "none"))
    endings = {True: "complete", False: "cut short"}
    yield from _differing("run", endings[old["complete"]], endings[new["complete"]])


def _differing(what: str, old: object, new: object) -> Iterator[SettingDifference]:
    if old != new:
        yield SettingDifference(what, shown(old), shown(new))


def shown(value: object) -> str:
    """Return a setting in words."""
    return "none" if value is None else str(value)


def paired(
    old: Sequence[Judged], new: Sequence[Judged]
) -> tuple[list[tuple[Judged, Judged]], list[str], list[str]]:
    """Return the matching savers, and the names of those that only one report has.

    Savers match by name; then by class, if that is unique. If one saver is left in each report,
    these two match as well: the saver was renamed, or is compared with another one.
    """
    pairs: list[tuple[Judged, Judged]] = []
    before, after = list(old), list(new)
    for key in (_name, _class, lambda _: "the only one"):
        _match(before, after, pairs, key)
    return pairs, [_name(one) for one in before], [_name(one) for one in after]


def _match(
    before: list[Judged],
    after: list[Judged],
    pairs: list[tuple[Judged, Judged]],
    key: Callable[[Judged], str],
) -> None:
    for one in list(before):
        same_old = [other for other in before if key(other) == key(one)]
        same_new = [other for other in after if key(other) == key(one)]
        if len(same_old) == len(same_new) == 1:
            pairs.append((one, same_new[0]))
            before.remove(one)
            after.remove(same_new[0])


def _name(judged: Judged) -> str:
    return str(judged["saver"]["name"])


def _class(judged: Judged) -> str:
    return str(judged["saver"]["class"])
