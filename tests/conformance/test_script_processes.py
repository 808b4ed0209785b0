"""Scripts that are run by forks of a kept process."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from saverproof.process import script_server
from saverproof.process.scripts import ScriptProcesses

IMPORTED = "wave"
"""What this file's scripts find imported, and no others."""
SAID = """\
import atexit, os, sys
atexit.register(lambda: print("at exit", file=sys.stderr))
print(__name__, sys.argv == [__file__], sys.path[0] == os.getcwd(), file=sys.stderr)
print(os.environ.get("SAID"), "wave" in sys.modules, file=sys.stderr)
sys.exit("its message")
"""


@pytest.fixture(scope="module")
def processes() -> Iterator[ScriptProcesses]:
    processes = ScriptProcesses([IMPORTED])
    yield processes
    processes.close()
    assert not servers()


def servers() -> list[psutil.Process]:
    """Those of these tests: judging in this process keeps one of its own, with other imports."""
    found = []
    for one in psutil.Process().children():
        # What an earlier test has started may just end.
        with suppress(psutil.NoSuchProcess):
            command = one.cmdline()
            if script_server.__name__ in command and command[-1] == IMPORTED:
                found.append(one)
    return found


def never(process: int, waited_s: float) -> bool:
    return False


def ended(processes: ScriptProcesses, folder: Path, text: str) -> tuple[int | None, list[str]]:
    script = folder / "script.py"
    script.write_text(text)
    status, said = processes.run(script, never)
    return status, said.splitlines()


def test_a_script_finds_what_a_new_interpreter_would_give_it(
    processes: ScriptProcesses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAID", "changed later")
    status, said = ended(processes, tmp_path, SAID)
    assert (status, said[0]) == (1, "__main__ True True")
    assert said[1] == "changed later True", "and what most scripts import is there"
    assert said[2:] == ["its message", "at exit"]


def test_one_leaves_nothing_to_the_next(processes: ScriptProcesses, tmp_path: Path) -> None:
    assert ended(processes, tmp_path, "import wave; wave.left = 1")[0] == 0
    left = "import wave, sys; sys.exit(hasattr(wave, 'left'))"
    assert ended(processes, tmp_path, left) == (0, [])


def test_one_that_dies_takes_nothing_with_it(processes: ScriptProcesses, tmp_path: Path) -> None:
    assert ended(processes, tmp_path, "import os; os.kill(os.getpid(), 9)")[0] == -9
    assert ended(processes, tmp_path, "raise SystemExit(3)") == (3, [])


def test_one_with_threads_about_is_a_new_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "starts_a_thread.py").write_text(
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    )
    processes = ScriptProcesses(["starts_a_thread"])
    script = tmp_path / "script.py"
    script.write_text("import sys; sys.exit(2 + ('starts_a_thread' in sys.modules))")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert processes.run(script, never) == (2, "")
    processes.close()


def test_one_that_does_not_end_is_killed(processes: ScriptProcesses, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import threading; threading.Event().wait()")
    assert processes.run(script, lambda process, waited_s: True)[0] == -9


def test_what_runs_them_is_started_again(processes: ScriptProcesses, tmp_path: Path) -> None:
    (server,) = servers()
    server.kill()
    server.wait()
    assert ended(processes, tmp_path, "raise SystemExit(5)") == (5, [])
