"""Children that are forked from one process which has imported what they need."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import pytest
from tests.waiting import eventually, left_of

from saverproof.process import fork_server
from saverproof.process.client import JudgeGone, JudgeProcess
from saverproof.process.environment import Setting
from saverproof.process.forks import forks_of, start
from saverproof.process.requests import Request, Service, as_it_is

SERVICE = """
import os, subprocess, sys
from saverproof.process.requests import Handlers, Request, Service, as_it_is
from saverproof.process.server import serve

left = []

def leave(data, progress):
    left.append(data)
    return {"left": left, "parent": os.getppid(), "said": os.environ.get("SAID"),
            "session": os.getsid(0), "order": hash("that of sets"),
            "started": subprocess.Popen(["sleep", "600"]).pid}

def end(data, progress):
    os._exit(data)

def main(*served):
    handlers = Handlers()
    for function in (leave, end):
        name = function.__name__
        handlers.add(Request(Service("forked"), name, as_it_is, as_it_is), function)
    serve(handlers, *served)

if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
"""
RUN = """
import sys
from saverproof.process.client import JudgeProcess
from saverproof.process.environment import Setting
from saverproof.process.forks import forks_of, start
from saverproof.process.requests import Request, Service, as_it_is

with forks_of([Service("forked")]):
    child = JudgeProcess(Setting.current(), Service("forked"))
    answer = child.ask(Request(Service("forked"), "leave", as_it_is, as_it_is), None)
    print(child.pid, answer["parent"], answer["started"], flush=True)
    sys.stdin.read()
"""
FORKED = Service("forked")
LEAVE = Request(FORKED, "leave", as_it_is, as_it_is)
END = Request(FORKED, "end", as_it_is, as_it_is)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / "forked"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(SERVICE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    # What other tests share is not asked here.
    monkeypatch.delenv("SAVERPROOF_FORKS", raising=False)
    return tmp_path


@pytest.fixture
def forking(folder: Path) -> Iterator[None]:
    with forks_of([FORKED]):
        yield
    assert not servers()


def servers() -> list[psutil.Process]:
    """Those that are kept for this file's service."""
    found = []
    for one in psutil.Process().children():
        # What an earlier test has started may just end.
        with suppress(psutil.Error):
            if one.cmdline()[-1:] == [FORKED.module]:
                found.append(one)
    return found


def child(folder: Path) -> JudgeProcess:
    return JudgeProcess(Setting.current(folder), FORKED)


@pytest.mark.usefixtures("forking")
def test_a_child_finds_what_a_new_interpreter_would_give_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAID", "changed later")
    with child(folder) as first, child(folder) as second:
        answers = [one.ask(LEAVE, one.pid) for one in (first, second)]
        assert [answer["left"] for answer in answers] == [[first.pid], [second.pid]]
        assert [answer["session"] for answer in answers] == [first.pid, second.pid]
        assert {answer["parent"] for answer in answers} == {servers()[0].pid}
        assert {answer["said"] for answer in answers} == {"changed later"}
        pids = [first.pid, second.pid, *(answer["started"] for answer in answers)]
        left = [psutil.Process(pid) for pid in pids]
    assert eventually(lambda: not left_of(left))


def test_sets_have_the_same_order_in_the_children_of_all_runs(folder: Path) -> None:
    orders = set()
    for _ in range(2):
        with forks_of([FORKED]), child(folder) as one:
            orders.add(one.ask(LEAVE, 0)["order"])
    with child(folder) as afresh:
        orders.add(afresh.ask(LEAVE, 0)["order"])
    assert len(orders) == 1


@pytest.mark.usefixtures("forking")
def test_how_a_child_ended_is_told(folder: Path) -> None:
    with child(folder) as one, pytest.raises(JudgeGone, match="ended itself with status 7"):
        one.ask(END, 7)
    with child(folder) as one:
        os.kill(one.pid, signal.SIGTERM)
        with pytest.raises(JudgeGone, match="the process died: SIGTERM"):
            one.ask(LEAVE, None)


@pytest.mark.usefixtures("forking")
def test_without_the_process_that_forks_children_are_new_interpreters(folder: Path) -> None:
    with child(folder) as before:
        before.ask(LEAVE, None)
        (server,) = servers()
        server.kill()
        server.wait()
        with pytest.raises(JudgeGone):
            before.ask(LEAVE, None)
    with child(folder) as one:
        assert one.ask(LEAVE, None)["parent"] == os.getpid()


@pytest.mark.parametrize("line", ["raise ValueError", "threading.Timer(600, print).start()"])
def test_what_cannot_be_forked_is_a_new_interpreter(line: str, folder: Path) -> None:
    module = folder / "forked" / "__main__.py"
    refused = f"import threading\nif __name__ != '__main__':\n    {line}\n"
    module.write_text(refused + module.read_text())
    with forks_of([FORKED]), child(folder) as one:
        assert one.ask(LEAVE, None)["parent"] == os.getpid()


NO_ROOM = """
import os

def fork_once_more():
    if not forks:
        raise BlockingIOError
    return forks.pop()()

if __name__ != "__main__":
    forks, os.fork = [os.fork], fork_once_more
"""


def test_where_there_is_no_room_for_one_more_the_others_go_on(folder: Path) -> None:
    module = folder / "forked" / "__main__.py"
    module.write_text(NO_ROOM + module.read_text())
    with forks_of([FORKED]), child(folder) as one, child(folder) as other:
        assert other.ask(LEAVE, None)["parent"] == os.getpid()
        assert one.ask(LEAVE, None)["parent"] == servers()[0].pid


def test_what_is_too_long_to_be_ordered_is_a_new_interpreter(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with forks_of([FORKED]), child(folder) as one:
        for name in ("SAID", "LONGER"):
            monkeypatch.setenv(name, fork_server.LONGEST // 2 * "-")
        with child(folder) as other:
            assert other.ask(LEAVE, None)["parent"] == os.getpid()
        assert one.ask(LEAVE, None)["parent"] == servers()[0].pid


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_of_a_run_that_is_ended(how: signal.Signals, folder: Path) -> None:
    command = [sys.executable, "-c", RUN]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as run:
        assert run.stdout is not None
        left = [psutil.Process(int(number)) for number in run.stdout.readline().split()]
        assert len(left) == 3
        run.send_signal(how)
    assert eventually(lambda: not left_of(left))


@pytest.mark.usefixtures("forking")
def test_what_was_known_of_a_child_that_ended_is_not_taken_for_anothers(folder: Path) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    # It has nothing to serve on.
    first = start(FORKED, nothing, [nothing] * 3)
    os.close(nothing)
    assert first.wait(60) == 1
    # As many as have its descriptors among theirs.
    with ExitStack() as stack:
        others = [stack.enter_context(child(folder)) for _ in range(6)]
        first.bury()
        for other in others:
            with pytest.raises(JudgeGone, match="ended itself with status 7"):
                other.ask(END, 7)


@pytest.mark.usefixtures("forking")
def test_a_child_is_ended_before_it_has_a_group_of_its_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_such_group(*_: int) -> None:
        raise ProcessLookupError

    with child(folder) as one:
        left = psutil.Process(one.pid)
        monkeypatch.setattr(os, "killpg", no_such_group)
    assert eventually(lambda: not left_of([left]))
