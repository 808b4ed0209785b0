"""Scenes of the family filter."""

from __future__ import annotations

from typing import Any

from tests.wrong_savers.scenes import scene
from tests.wrong_savers.scenes.probe import Probe


def listed(p: Probe, filters: list[dict[str, Any]]) -> Any:
    """Return what each filter lists, sorted."""
    found = [p.ids(p.config(), filter=wanted) for wanted in filters]
    return [ids if isinstance(ids, str) else sorted(ids) for ids in found]


@scene("filter/equality")
def filters_on_scalars(p: Probe) -> Any:
    texts = ["fork", "Fork", "forked", "fo%", "fo*", "fork,Fork", "\u00e9", "e\u0301", "", "1"]
    kinds: list[Any] = [*texts, 1, 16777216, 16777217, 0, 0.5, -1]
    for number, kind in enumerate([*kinds, True, False], 1):
        p.put(number, metadata={"kind": kind, "source": "input" if number % 2 else "loop"})
    kinds_wanted = [{"kind": kind} for kind in kinds]
    both = [{"kind": "fork", "source": "loop"}, {"source": "input", "kind": "fork"}]
    p.put(20, thread="b", metadata={"done": True})
    p.put(21, thread="b", metadata={"done": False})
    done = [sorted(p.ids(p.config("b"), filter={"done": flag})) for flag in (True, False)]
    # The only match lies behind a whole page of a hundred.
    for number in range(1, 102):
        p.put(number, thread="long", metadata={"kind": "first" if number == 1 else "later"})
    first = p.ids(p.config("long"), filter={"kind": "first"})
    p.put(22, thread="c", metadata={"kind": ["fork"]})
    held = p.ids(p.config("c"), filter={"kind": "fork"})
    beside = [p.places(c, filter={"kind": "Fork"}) for c in (None, p.config("a", "", 1))]
    for number in (23, 24):
        p.put(
            number,
            thread="d",
            metadata={"a": 1, "b": 1, "c": number, "long": f"{'x' * 300}{number}"},
        )
    three = [{"a": 1, "b": 1, "c": 23}, {"long": f"{'x' * 300}23"}]
    beside += [p.ids(p.config("d"), filter=wanted) for wanted in three]
    found = listed(p, [*kinds_wanted, *both, {"kind": "nothing"}, {"missing": "x"}])
    return found, done, first, held, beside


@scene("filter/none")
def filters_on_none(p: Probe) -> Any:
    p.put(1, metadata={"kind": None})
    p.put(2, metadata={})
    p.put(3, metadata={"kind": "k"})
    return listed(p, [{"kind": None}])


@scene("filter/nested")
def filters_on_containers(p: Probe) -> Any:
    p.put(1, metadata={"kind": {"a": 1}})
    p.put(2, metadata={"kind": {"b": 2, "a": 1}})
    p.put(3, metadata={"kind": [1, 2]})
    p.put(4, metadata={"kind": {"a": {"c": 1}}})
    kinds = ({"a": 1}, {"a": 1, "b": 2}, {"a": 2}, {"a": {"c": 2}}, [1, 2], [2, 1], [1])
    return listed(p, [{"kind": kind} for kind in kinds])


@scene("filter/dotted-key")
def filters_on_dotted_keys(p: Probe) -> Any:
    p.put(1, metadata={"a.b": 1})
    p.put(2, metadata={"a": {"b": 1}})
    return listed(p, [{"a.b": 1}])
