"""Probes a target from the pytest process, through a child process in which its code runs."""

import os
from collections.abc import Mapping
from typing import Any

from saverproof.errors import TargetError, one_line
from saverproof.process.client import JudgeGone, JudgeProcess
from saverproof.process.environment import Setting
from saverproof.process.scratch import in_memory, scratch_folder
from saverproof.process.servers import Servers, keepers_as_json
from saverproof.savers.facts import Facts
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.requests import NEED, PROBE, PROBING, Unknown

PROBE_SILENCE_S = 30.0
"""Seconds that each stage of a probe may take without any progress."""


def probe(
    ref: TargetRef, setting: Setting, servers: Servers, silence_s: float = PROBE_SILENCE_S
) -> Facts:
    """Import the target in a child process, open it, write, reopen it, and call its methods.

    The server that it needs stays until ``servers`` are ended.

    Raises:
        TargetError: it cannot be judged as it is; the message is one line that says why.
    """
    stage = "starting"

    def listen(progress: Mapping[str, Any]) -> None:
        nonlocal stage
        stage = str(progress["stage"])

    try:
        # Probe where most families judge, so that operations take as long as they will there.
        with scratch_folder(root=in_memory()) as folder, JudgeProcess(setting, PROBING) as child:
            need = child.ask(NEED, ref, silence_s=silence_s, listener=listen)
            if need is not None:
                servers.provide(need, ref.saver)
            unknown = Unknown(ref, str(folder), keepers_as_json())
            return child.ask(PROBE, unknown, silence_s=silence_s, listener=listen)
    except JudgeGone as gone:
        raise TargetError(
            f"--saver {ref.saver}: {gone.reason} while {stage}{_last_words(gone)}"
        ) from None


def _last_words(gone: JudgeGone) -> str:
    """Return where the thread that crashed or hung was, or else what the process printed last."""
    _, _, current = gone.stacks.partition("Current thread")
    frames = [line.strip() for line in current.splitlines() if line.startswith("  File ")]
    library = os.path.dirname(os.__file__)
    theirs = [frame for frame in frames if library not in frame]
    lines = gone.output.strip().splitlines()
    for text in [*theirs[:1], *frames[:1], *lines[-1:]]:
        return f" ({one_line(text, 160)})"
    return ""
