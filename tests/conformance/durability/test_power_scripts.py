"""Scripts that cut the power below a saver."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.script_runs import CANNOT_TELL, ended
from tests.reference.state_file import StateFileReference
from tests.wrong_savers.plain_files import NothingSynced

from saverproof.families.durability.power import power_scripts
from saverproof.programs import small
from saverproof.savers.targets.target import Target
from saverproof_faults.syscalls import CallRecorder, available

pytestmark = pytest.mark.skipif(available() is not None, reason=str(available()))


class InThreads(StateFileReference):
    """Its async API leaves all work to the threads that asyncio keeps."""

    async def aput(self, *given: Any) -> Any:
        return await asyncio.to_thread(self.put, *given)

    async def aput_writes(self, *given: Any) -> None:
        await asyncio.to_thread(self.put_writes, *given)


class InThreadsUnsynced(InThreads, NothingSynced):
    pass


@pytest.mark.parametrize(("saver", "shows"), [(InThreads, False), (InThreadsUnsynced, True)])
def test_what_kept_threads_write_is_seen(
    saver: type[InThreads], shows: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(power_scripts, "SMALL", [small.ONE])
    opening = (
        f"from pathlib import Path\nfrom {closing.__module__} import closing\n"
        f"from {saver.__module__} import {saver.__name__}\nclosing({saver.__name__}.at(Path(path)))"
    )
    target = Target(
        name="threads", open=lambda place: closing(saver.at(place.path)), opening=opening
    )
    script = power_scripts.power_reproducer(
        target, "async", power_scripts.KEEPS, CallRecorder.__name__, deadly=False
    )
    assert (script != "") is shows
    if shows:
        assert ended(script, tmp_path)[0] == 1
        shut = script.replace(f"{saver.__name__}.at", f"{saver.__name__}.nowhere")
        assert ended(shut, tmp_path)[0] == CANNOT_TELL
