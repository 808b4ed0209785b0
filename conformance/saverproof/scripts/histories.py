"""Writes many checkpoints in a row as one loop, which keeps what each needs of the one before."""

from __future__ import annotations

from saverproof.programs.steps.definitions import PutHistory, Times
from saverproof.programs.steps.expanding import MARK, RUN, puts_of
from saverproof.scripts.source import dict_source, highest, literal, quoted, versions_source
from saverproof.scripts.writer import ScriptWriter


def write_history(step: PutHistory, writer: ScriptWriter) -> None:
    """Write the loop, and update the model. The versions of its checkpoints are called ``V`` with a
    number.
    """
    writer.helpers.add("checkpoint")
    first, last = step.number, step.number + step.count
    writer.id(last - 1)
    puts = list(puts_of(step))
    before = writer.model.plan_put(puts[0], lambda _: "new")
    others = {name: c for name, c in before.channels.items() if name != "count"}
    older = before.seen[puts[0].node]
    values = {name: writer.value(c.value) for name, c in others.items() if c.value is not None}
    versions = {name: str(channel.version) for name, channel in others.items()}
    current = highest([str(version) for version in older.values()])
    name = f"V{first}"
    place = f"{quoted(step.thread)}, {quoted(step.namespace)}"
    parent = "" if step.parent is None else f", {writer.id(step.parent)}"
    writer.helpers.add("config")
    made = 'checkpoint(n, values | {"count": n}, new, **old)'
    if step.times is not Times.RISING:
        made += f' | {{"ts": {_time(step)}}}'
    put = writer.change("put", "at", made, _metadata(step), "new")
    writer.say(
        f"{name}, at = {{}}, config({place}{parent})",
        f"values, old = {dict_source(values)}, {versions_source(older)}",
        f"latest = {current}",
        f"for n in range({first}, {last}):",
        f"    latest = {name}[n] = saver.get_next_version(latest, None)",
        '    new = {"count": latest}',
        f"    {put}",
        f"    at, old = config({place}, ID[n]), {versions_source(versions)} | new",
    )
    writer.skip_turns(step.count - 1)
    for one in puts:
        planned = writer.model.plan_put(one, lambda _, one=one: f"{name}[{one.number}]")  # type: ignore[misc]
        writer.model.put(one, planned)


def _time(step: PutHistory) -> str:
    """Return the source of a checkpoint's time, taken from the helper's checkpoint of another
    number.
    """
    other = (
        str(step.number) if step.times is Times.EQUAL else f"{2 * step.number + step.count - 1} - n"
    )
    return f'checkpoint({other}, {{}}, {{}})["ts"]'


def _metadata(step: PutHistory) -> str:
    made = f'{{"source": "loop", "step": n, "parents": {{}}, "run_id": {quoted(RUN)}}}'
    if not step.marked:
        return made
    return f"{made} | ({literal(MARK)} if n % {step.marked} == 0 else {{}})"
