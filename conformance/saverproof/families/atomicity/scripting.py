"""Standalone scripts of at most forty lines that show what a failing operation leaves behind."""

from __future__ import annotations

from collections.abc import Iterator

from saverproof.families.atomicity.judging import CANCELLED, SILENT, USABLE
from saverproof.families.atomicity.record import Found
from saverproof.families.atomicity.script_faults import PlainFault, plain_faults
from saverproof.scripts.assembling import all_folded, head, imports, indented
from saverproof.scripts.layout import LONGEST
from saverproof.scripts.opening import Opening, looks_of, opening_of, opens_asynchronously
from saverproof.scripts.source import quoted
from saverproof.scripts.speaking import NotSpokenError, Speaker
from saverproof.scripts.trying import complains_alone
from saverproof.scripts.voice import Voice
from saverproof.steps.definitions import CopyThread, SetUp
from saverproof.targets.target import Target

_MOST_TRIED = 4


def reproducer(target: Target, found: Found, api: str, statement: str) -> str:
    """The source of a script that was run and complained; "" if none of those tried did."""
    opening = opening_of(target)
    scenario, injection = found.sweep.scenario, found.injection
    managed = opens_asynchronously(target)
    if opening is None or injection is None:
        return ""
    speaker = Speaker(api, managed, opening.expression)
    setup = looks_of(target, (scenario.step,), Voice(api, managed)).setup
    database = next(iter(found.sweep.store.databases), "")
    faults = plain_faults(injection, found.sweep.counted.places, database, scenario.step)
    promise = f"{found.verdict.contract}: {statement}"
    texts: list[str] = []
    for fault in faults:
        try:
            main = _program(speaker, found, fault, database, setup)
        except NotSpokenError:
            return ""
        texts.append(_script(speaker, opening, fault, main, promise, target.name))
    # The plainest fault comes first, and a short script before any that is not.
    texts.sort(key=lambda text: text.count("\n") > LONGEST)
    for text in texts[:_MOST_TRIED]:
        if complains_alone(text, found.contract):
            return text
    return ""


def _program(
    speaker: Speaker, found: Found, fault: PlainFault, database: str, setup: str
) -> list[str]:
    """The lines of the script in which the saver is used."""
    scenario, verdict = found.sweep.scenario, found.verdict
    step = scenario.step
    if isinstance(step, SetUp):
        return _opening_fails(speaker, found, fault, database, setup)
    thread = step.target if isinstance(step, CopyThread) else scenario.threads[0]
    call = speaker.call(step)
    first = [
        *map(speaker.call, scenario.start),
        f"before, failed = {speaker.listing(thread)}, True",
    ]
    operation = [
        line.format(call=call, coroutine=call.removeprefix("await ")) for line in fault.call
    ]
    if fault.raises:
        # A mended saver may return where this one failed, and fail where this one returned.
        kind = "BaseException" if "cancelled" in operation[0] else "Exception"
        lines = [*operation[:-1], f"{operation[-1]}; failed = False"]
        operation = [f"with contextlib.suppress({kind}):", *indented(lines)]
    first += [*fault.before, *operation, *fault.after]
    if verdict.contract == USABLE or (verdict.contract == CANCELLED and verdict.outcome != "torn"):
        return speaker.with_saver([*first, *_use(speaker, thread, database)])
    if verdict.outcome in ("late", "stuck"):
        first.append(speaker.other())
    then = [f"after = {speaker.listing(thread)}"]
    wrong = "after == before" if verdict.contract == SILENT else "after != before"
    if fault.raises:
        wrong = f"{'not failed' if verdict.contract == SILENT else 'failed'} and {wrong}"
    if verdict.contract == CANCELLED:
        then += [call, f"whole = {speaker.listing(thread)}"]
        wrong = "after not in (before, whole)"
    return [*speaker.with_saver(first), *speaker.with_saver([*then, *_complaint(wrong)])]


def _opening_fails(
    speaker: Speaker, found: Found, fault: PlainFault, database: str, setup: str
) -> list[str]:
    """The lines of a script in which an existing store is opened and set up, and that fails."""
    thread = found.sweep.scenario.threads[0]
    listing = speaker.listing(thread)
    first = [*map(speaker.call, found.sweep.scenario.start), f"before = {listing}"]
    if found.verdict.contract == USABLE:
        then = list(_use(speaker, thread, database))
    else:
        then = [f"after = {listing}", *_complaint("after != before")]
    failing = [*([setup] if setup else []), listing]
    return [
        *speaker.with_saver(first),
        *fault.before,
        "with contextlib.suppress(Exception):",
        *indented(speaker.with_saver(failing)),
        *fault.after,
        *speaker.with_saver(then),
    ]


def _complaint(wrong: str) -> list[str]:
    return [
        f"if {wrong}:",
        "    writes = [len(found.pending_writes or ()) for found in after]",
        '    raise SystemExit(f"{__doc__}\\nlisted: checkpoints with {writes} pending writes")',
    ]


def _use(speaker: Speaker, thread: str, database: str) -> Iterator[str]:
    """Read, let another connection commit, and write: each of it must work."""
    yield "try:"
    yield f"    {speaker.listing(thread)}"
    if database:
        yield f"    with contextlib.closing(sqlite3.connect(path + {quoted('/' + database)},"
        yield "            timeout=0)) as somebody:"
        yield '        somebody.execute("PRAGMA user_version = 1")'
    yield f"    {speaker.other()}"
    yield "except Exception as error:"
    yield '    raise SystemExit(f"{__doc__}\\nexpected: no error\\nobserved: {error!r}") from error'


def _script(
    speaker: Speaker, opening: Opening, fault: PlainFault, main: list[str], promise: str, name: str
) -> str:
    heads = ["tempfile.TemporaryDirectory() as path"]
    dropping: list[str] = []
    if opening.drop:
        heads.append("contextlib.ExitStack() as cleanup")
        dropping = [f"cleanup.callback(lambda: {opening.drop.format('path')})"]
    lines = [f"with {', '.join(heads)}:", *indented([*dropping, *main])]
    if speaker.in_coroutine:
        lines = ["async def main():", *indented(lines), "asyncio.run(main())"]
    body = all_folded((*speaker.helpers(), *lines))
    code = "\n".join((*fault.top, *body))
    top = [*head(promise, name), *imports(opening, fault.imports, code)]
    return "\n".join([*top, *fault.top, *opening.before, *body, ""])
