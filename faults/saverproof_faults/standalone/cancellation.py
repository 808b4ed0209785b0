"""Source text that cancels an await, for scripts without this package."""

from saverproof_faults.armed_plans import ArmedPlan
from saverproof_faults.kinds import Moment
from saverproof_faults.places import Places


def cancelled(armed: ArmedPlan, _places: Places) -> str:
    """Return the source of a function that cancels a coroutine at the plan's place."""
    place = armed.plan.place
    at = f"self.steps == {place.index}"
    before = place.moment is Moment.BEFORE
    steps = passing(at, "False") if before else passing("False", at)
    return f"import asyncio\n\n{steps}\n{_CANCELLED.format(index=place.index)}"


def passing(before: str, after: str = "False") -> str:
    """Return the source of a class that awaits a coroutine, and counts its waits in ``steps``.

    Its task is cancelled ``before`` a wait, or the coroutine is told so ``after`` one, if the
    expression is true then.
    """
    return _STEPS.format(before=before, after=after)


_STEPS = """\
class Steps:
    def __init__(self, coroutine): self.coroutine, self.steps = coroutine, 0
    def __await__(self):
        error = None
        while True:
            try:
                run = self.coroutine
                waiting = run.throw(error) if error else run.send(None)
            except StopIteration as end:
                return end.value
            error, self.steps = None, self.steps + 1
            if {before}: asyncio.current_task().cancel()
            try: yield waiting
            except BaseException as raised: error = raised
            else:
                if {after}: error = asyncio.CancelledError()
"""

_CANCELLED = """\
async def cancelled(coroutine):
    steps = Steps(coroutine)
    async def run(): return await steps
    await asyncio.wait({{asyncio.create_task(run())}})
    await asyncio.sleep(0.2)  # for work that was handed to a thread
    if steps.steps < {index}:
        print("undecided: it suspended", steps.steps, "times, and was not cancelled")
        raise SystemExit(2)
"""
