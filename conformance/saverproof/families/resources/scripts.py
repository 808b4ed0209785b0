"""Writes standalone scripts that repeat something many times, and count what stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from saverproof.families.asked_saver import awaited
from saverproof.families.chain import Chain
from saverproof.families.resources.holdings import KINDS
from saverproof.families.resources.judging import Exhaustion, Leak
from saverproof.families.resources.measuring import THREADS_END_WITHIN_S
from saverproof.families.resources.work import (
    Cancelling,
    Failing,
    LeftListings,
    Openings,
    Work,
    leave,
)
from saverproof.savers.targets.target import Target
from saverproof.scripts.formatting import indented
from saverproof.scripts.opening import Opening, opening_of
from saverproof.scripts.plain_calls import calling, source_of, with_saver
from saverproof.scripts.script import complaint, promise_of
from saverproof.scripts.script import script as whole_script
from saverproof.scripts.verification import first_to_complain
from saverproof_faults.standalone.cancellation import passing

_TRIED = 3
"""How many leaks are tried for a script."""
_IMPORTS = ("import itertools", "import time", "import tracemalloc")
_COUNTERS: Mapping[str, str] = MappingProxyType(
    {
        "descriptors": 'len(os.listdir("/proc/self/fd"))',
        "threads": 'len(os.listdir("/proc/self/task"))',
        "tasks": "len(asyncio.all_tasks(loop))",
        "files": 'sum(1 for _ in Path(path).rglob("*"))',
        "objects": "len(gc.get_objects())",
        "memory": "tracemalloc.get_traced_memory()[0]",
    }
)
_CANCEL = """
failed = None
async def cancelled(coroutine, wait):
    global failed
    steps = Steps(coroutine)
    steps.last = wait
    async def call(): await steps
    (ended,) = await asyncio.gather(call(), return_exceptions=True)
    if steps.steps < wait:
        before, failed = failed, ended
        if isinstance(before, Exception) and isinstance(ended, Exception): raise ended
    return steps.steps >= wait
Awaited.cancel = lambda self, name, arguments, named, wait: run(
    cancelled(awaited(getattr(self.saver, f"a{name}")(*arguments, **named)), wait))
"""


def reproducer(target: Target, found: Sequence[Leak], api: str) -> str:
    """Return the source of a script that shows a leak, of those that break one contract; "" if none
    does.
    """
    opening = opening_of(target)
    found = [leak for leak in found if not issubclass(leak.work, Failing)]
    if opening is None or not found:
        return ""
    texts = (script(leak, api, opening, target.name) for leak in likeliest(found))
    return first_to_complain(texts, found[0].contract)


def exhausting(target: Target, found: Exhaustion, api: str) -> str:
    """Return the source of a script that does a work until it raises; "" if it does not."""
    opening = opening_of(target)
    if opening is None or issubclass(found.work, Failing):
        return ""
    raised = "after {number:,} times: {type(error).__name__}: {error}"

    def worked(saver: str) -> list[str]:
        return [
            f"work = {found.work.__name__}({saver})",
            f"for number in range({found.done + 1}):",
            "    try:",
            "        work.once(number)",
            "    except Exception as error:",
            f"        if number < {found.work.fewest_done}:",
            "            raise",
            f"        {complaint('the same work however often it is asked for', raised)}",
        ]

    lines = [
        *_definitions(found.work, opening, api),
        *opening.in_folder(with_saver(opening, api, worked)),
    ]
    promise = promise_of(found.contract)
    text = whole_script(promise, target.name, opening, lines, _IMPORTS)
    return first_to_complain([text], found.contract)


def likeliest(found: Sequence[Leak]) -> list[Leak]:
    """Return the leaks to try for a script: of each kind the greatest, and then the others, since
    that one may not end in time.
    """
    by_amount = sorted(found, key=lambda leak: leak.law.per_item, reverse=True)
    greatest = {leak.kind: leak for leak in reversed(by_amount)}.values()
    others = [leak for leak in by_amount if leak not in greatest]
    return [*sorted(greatest, key=lambda leak: leak.rank), *others][:_TRIED]


def script(leak: Leak, api: str, opening: Opening, name: str) -> str:
    """Return the source of a script."""
    work, law = leak.work, leak.law
    few, many = law.sizes[0], law.sizes[-1]
    allowed = max((law.last - law.first) // 2, 1)
    lines = [
        *_definitions(work, opening, api),
        "def held(path):",
        "    gc.collect()",
        f"    return {_COUNTERS[leak.kind]}",
        *(["tracemalloc.start()"] if leak.kind == "memory" else []),
        *opening.in_folder(_worked(leak, opening, api)),
        f'told = f"{{first:,}} after {few:,} times, {{last:,}} after {many:,}"',
        f'print("{KINDS[leak.kind].unit}:", told)',
        f"if last > first + {allowed:,}:".replace(",", ""),
        f"    {complaint('as many as after the first few times', '{told}')}",
    ]
    return whole_script(promise_of(leak.contract), name, opening, lines, _IMPORTS)


def _definitions(work: type[Work], opening: Opening, api: str) -> list[str]:
    """Return the source of a kind of work, and of what it uses."""
    return [
        *calling(opening, api),
        *(_cancelling() if issubclass(work, Cancelling) else []),
        *(source_of(leave) if work is LeftListings else []),
        *source_of(Chain),
        *source_of(Work),
        *(source_of(Cancelling) if issubclass(work, Cancelling) else []),
        *([] if work is Openings else source_of(work)),
    ]


def _cancelling() -> list[str]:
    """Return the definitions by which an awaited call is cancelled."""
    steps = passing(before="self.steps == self.last")
    return [*steps.splitlines(), *source_of(awaited), *_CANCEL.splitlines()]


def _worked(leak: Leak, opening: Opening, api: str) -> list[str]:
    few, many = leak.law.sizes[0], leak.law.sizes[-1]
    if leak.work is Openings:
        once = with_saver(opening, api, lambda saver: [f"Work({saver})"])
        return [
            f"for number in range({many}):",
            *indented(once),
            f"    first = held(path) if number < {few} else first",
            *_last(leak),
        ]
    # What lies in the folder of the store is counted, so temporary files are made there as well.
    in_folder = ["tempfile.tempdir = path"] if leak.kind == "files" else []
    return with_saver(
        opening,
        api,
        lambda saver: [
            *in_folder,
            f"work = {leak.work.__name__}({saver})",
            f"for number in range({many}):",
            "    work.once(number)",
            f"    first = held(path) if number < {few} else first",
            *_last(leak),
        ],
    )


def _last(leak: Leak) -> list[str]:
    """Return the lines that count for the last time: threads that are idle may yet end."""
    waits = [
        f"until = time.monotonic() + {THREADS_END_WITHIN_S:.0f}  # an engine keeps idle ones",
        "while held(path) > first and time.monotonic() < until:",
        "    time.sleep(0.1)",
    ]
    return [*(waits if leak.kind == "threads" else []), "last = held(path)"]
