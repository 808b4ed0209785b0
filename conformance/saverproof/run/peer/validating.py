"""Run LangGraph's own suite on a target, in a process that is made for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.report import ProgressCallbacks

from saverproof.process.requests import Progress
from saverproof.run.peer.bridge import bridged
from saverproof.run.peer.requests import PeerPlan, PeerVerdict
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.opening import fresh_workspace
from saverproof.savers.targets.reference import TargetRef
from saverproof_reports.text import one_line


def validated(plan: PeerPlan, progress: Progress) -> PeerVerdict:
    """Return the suite's verdict on a target through one of its APIs."""
    target = load(TargetRef.from_json(plan.target))
    tests: dict[str, str] = {}

    # The suite wants a new saver for each of its capabilities.
    async def fresh() -> AsyncGenerator[Any, None]:
        async with AsyncExitStack() as stack:
            workspace = stack.enter_context(fresh_workspace(Path(plan.folder), target))
            manager: Any = target.open(workspace)
            is_async = not hasattr(type(manager), "__enter__")
            saver = (
                await stack.enter_async_context(manager)
                if is_async
                else stack.enter_context(manager)
            )
            yield saver if plan.api == "async" else bridged(saver, in_thread=is_async)

    def note(capability: str, test: str, passed: bool, error: str | None) -> None:
        tests[test] = "" if passed else _reason(error)
        progress({"operations": len(tests)})

    registered = checkpointer_test(name=target.name)(fresh)
    report = asyncio.run(validate(registered, progress=ProgressCallbacks(on_test_result=note)))
    results = report.results
    return PeerVerdict(
        level=report.conformance_level(),
        passed=sum(one.detected and one.passed is True for one in results.values()),
        detected=sum(one.detected for one in results.values()),
        missing=tuple(name for name, one in results.items() if not one.detected),
        tests=tests,
    )


def _reason(error: str | None) -> str:
    """Return the last line of a traceback, which names the error."""
    lines = [line for line in (error or "").splitlines() if line.strip()]
    return one_line(lines[-1], 200) if lines else "it failed"
