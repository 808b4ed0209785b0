"""Run a script, to be sure that it shows what it says."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass

from langgraph import graph
from langgraph.checkpoint import memory

from saverproof.process import heartbeat
from saverproof.process.scratch import in_memory, scratch_folder, temporary_files_in
from saverproof.process.scripts import ScriptProcesses
from saverproof.process.silence import Silence
from saverproof.savers.targets import target

PATIENCE_S = 20.0
"""Seconds for which nothing may move in the process of a script before it is ended. A script that
is at work, or would be on a less busy machine, gets six times as long.
"""
_PROCESSES = ScriptProcesses([module.__name__ for module in (graph, memory, target)])
"""The processes that run scripts. What they have imported includes no driver and no saver, because
some scripts patch those before importing them.
"""


def complains(text: str, promise: str) -> bool:
    """Return whether the script ends with its own message, here and in a process of its own.

    Only the second run counts, because this process may be full of what a saver left behind. The
    first one is a hundred times as fast, and rules most scripts out.
    """
    return complains_here(text) and complains_alone(text, promise)


def complains_here(text: str) -> bool:
    """Return whether the script ends with its own message in this process."""
    # What the script has open goes with the run if this process is killed meanwhile.
    with scratch_folder(root=in_memory()) as folder, temporary_files_in(folder):
        return _complains(text)


def _complains(text: str) -> bool:
    path, hook = list(sys.path), sys.excepthook
    names = {"__name__": "__reproducer__"}
    try:
        # What this module imports from __future__ would turn the annotations of a script's graph
        # into texts, which LangGraph could not look up.
        exec(compile(text, "<reproducer>", "exec", dont_inherit=True), names)
    except SystemExit as ending:
        message = ending.code
        return isinstance(message, str) and message.startswith(str(names.get("__doc__")))
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - a script that fails in another way shows nothing
        return False
    finally:
        sys.path[:], sys.excepthook = path, hook
    return False


def complains_alone(text: str, promise: str, patience_s: float = PATIENCE_S) -> bool:
    """Return whether the script, in its own process, ends with 1 and a message with the promise.

    A script in which nothing moves for ``patience_s`` seconds is ended, and shows nothing.
    """
    heartbeat.beat(0)
    with scratch_folder(root=in_memory()) as folder:
        script = folder / "script.py"
        script.write_text(text, encoding="utf-8")
        status, said = _PROCESSES.run(script, _Watch(patience_s))
    return status == 1 and promise in said


def first_to_complain(texts: Iterable[str], promise: str) -> str:
    """Return the first script that complains in a process of its own, or "" if none does."""
    return next((text for text in texts if complains_alone(text, promise)), "")


@dataclass(slots=True)
class _Watch:
    """A watch that ends a script in which nothing moves, and gives signs of life meanwhile."""

    patience_s: float
    _silence: Silence | None = None

    def __call__(self, process: int, waited_s: float) -> bool:
        heartbeat.beat(0)
        self._silence = self._silence or Silence(process, self.patience_s)
        return self._silence.last(waited_s) is not None
