"""The judge process: answers, and what happens when a saver ends or blocks it."""

import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.waiting import eventually, left_of

from saverproof.errors import JudgeError, SaverproofError, TargetError
from saverproof.families.handlers import is_spent
from saverproof.families.tally import tell_nobody
from saverproof.process import heartbeat, silence
from saverproof.process.channel import MessageChannel
from saverproof.process.client import JudgeGone, JudgeProcess
from saverproof.process.environment import Setting
from saverproof.process.requests import Request, Service, as_it_is

WORK = """
import ctypes, faulthandler, os, resource, signal, subprocess, sys, threading, time
from saverproof.errors import TargetError
from saverproof.process import heartbeat
from saverproof.process.requests import Handlers, Request, Service, as_it_is
from saverproof.process.server import serve

left_open = []

def where(data, progress):
    return {"folder": os.getcwd(), "first": sys.path[0], "secret": os.environ.get("SECRET")}

def echo(data, progress):
    print("not JSON", flush=True)
    os.write(1, b"{}\\n")
    os.write(2, b"{}\\n")
    return data

def tell(data, progress):
    for number in range(3):
        progress({"operations": number})

def refuse(data, progress):
    raise TargetError("no\\nsuch table")

def fail(data, progress):
    raise RuntimeError("broken")

def use_up(data, progress):
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert limits[0] >= min(limits[1], 65_536)
    resource.setrlimit(resource.RLIMIT_NOFILE, (50, limits[1]))
    try:
        while True:
            left_open.append(os.dup(1))
    except OSError as error:
        raise RuntimeError("cannot open the store") from error

def leave(data, progress):
    raise SystemExit(5)

def crash(data, progress):
    ctypes.string_at(0)

def exit(data, progress):
    heartbeat.beat(41)
    os._exit(7)

def kill(data, progress):
    os.kill(os.getpid(), signal.SIGKILL)

def hang(data, progress):
    threading.Thread(target=waiting_elsewhere, daemon=True).start()
    heartbeat.beat(17)
    threading.Event().wait()

def waiting_elsewhere():
    threading.Event().wait()

def hang_in_c(data, progress):
    # Holds the interpreter's lock, as a C extension may.
    open("hanging", "w").close()
    ctypes.PyDLL(None).pause()

def beat(data, progress):
    over = time.monotonic() + 1.5 * data["silence_s"]
    while time.monotonic() < over:
        heartbeat.beat(1)
    return "done"

def think(data, progress):
    heartbeat.beat(3)
    heartbeat.answered()
    threading.Event().wait()

def work(data, progress):
    # One call that works and beats no more, as a long listing or a busy loop does.
    heartbeat.beat(5)
    if data.get("answered"):
        heartbeat.answered()
    over = time.process_time() + data.get("processor_s", 1_000)
    while time.process_time() < over:
        pass
    return "done"

def work_and_hang(data, progress):
    work({"processor_s": 0.4}, progress)
    threading.Event().wait()

def have_worked(data, progress):
    heartbeat.beat(6)
    lines = "while True: pass"
    subprocess.run([sys.executable, "-c", lines], check=True)

def look_up(data, progress):
    heartbeat.beat(7)
    over = threading.Event()
    while not over.wait(0.05):
        pass

def chatter(data, progress):
    over = time.monotonic() + 1.5 * data["silence_s"]
    while time.monotonic() < over:
        progress({"operations": 1})
    return "done"

def start_another(data, progress):
    return subprocess.Popen(["sleep", "1000"]).pid

def close_everything(data, progress):
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    threading.Event().wait()

if __name__ == "__main__":
    handlers = Handlers()
    for name, function in list(globals().items()):
        if getattr(function, "__module__", None) == __name__:
            handlers.add(Request(Service("work"), name, as_it_is, as_it_is), function)
    serve(handlers, *map(int, sys.argv[1:]))
"""
WORKING = Service("work")


def asked(name: str) -> Request[Any, Any]:
    return Request(WORKING, name, as_it_is, as_it_is)


@pytest.fixture
def judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeProcess]:
    (tmp_path / "work.py").write_text(WORK)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with JudgeProcess(Setting.current(tmp_path), WORKING) as judge:
        yield judge


def gone(judge: JudgeProcess, work: str, **limits: Any) -> JudgeGone:
    with pytest.raises(JudgeGone) as caught:
        judge.ask(asked(work), {}, **limits)
    assert judge.closed
    return caught.value


def test_the_child_works_in_the_same_folder_and_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "42")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "work.py").write_text(WORK)
    with JudgeProcess(Setting.current(tmp_path), WORKING) as judge:
        answer = judge.ask(asked("where"), {})
    assert answer == {"folder": str(tmp_path), "first": str(tmp_path), "secret": "42"}


def test_printing_does_not_disturb_the_answer(judge: JudgeProcess) -> None:
    data = {"text": "line\nbreak \ud800 ☃", "numbers": [1, 2.5, None]}
    assert judge.ask(asked("echo"), data) == data
    assert judge.take_output() == "not JSON\n{}\n{}\n"
    assert judge.ask(asked("echo"), {"large": "x" * 3_000_000}) == {"large": "x" * 3_000_000}
    assert judge.take_output() == "not JSON\n{}\n{}\n"


def test_one_child_serves_many_requests(judge: JudgeProcess) -> None:
    heard: list[Any] = []
    judge.ask(asked("tell"), {}, listener=heard.append)
    judge.ask(asked("tell"), {}, listener=heard.append)
    assert heard == 2 * [{"operations": 0}, {"operations": 1}, {"operations": 2}]


def test_a_refusal_keeps_its_class_and_line(judge: JudgeProcess) -> None:
    with pytest.raises(TargetError, match=r"^no such table$"):
        judge.ask(asked("refuse"), {})
    assert judge.ask(asked("echo"), {"still": "there"}) == {"still": "there"}


@pytest.mark.parametrize(
    ("work", "line"), [("fail", "RuntimeError: broken"), ("leave", "SystemExit: 5")]
)
def test_any_other_exception_is_an_error_of_the_kit(
    judge: JudgeProcess, work: str, line: str
) -> None:
    with pytest.raises(JudgeError, match=f"{work}: {line}") as caught:
        judge.ask(asked(work), {})
    assert "work.py" in caught.value.details
    assert judge.ask(asked("echo"), {}) == {}


def test_descriptors_that_are_used_up_are_no_error_of_the_kit(judge: JudgeProcess) -> None:
    with pytest.raises(
        SaverproofError, match=r"^no descriptor is left: .*families=resources"
    ) as caught:
        judge.ask(asked("use_up"), {})
    assert not isinstance(caught.value, JudgeError)
    assert judge.ask(asked("echo"), {}) == {}


def test_a_channel_takes_any_descriptor() -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
    with ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        for _ in range(1024):
            stack.callback(os.close, os.dup(1))
        pair = socket.socketpair()
        assert min(each.fileno() for each in pair) >= 1024
        ours, theirs = map(MessageChannel, pair)
        theirs.send({"read by": "poll"})
        assert ours.receive(1.0) == {"read by": "poll"}
        assert ours.receive(0.0) is None
        theirs.close()
        with pytest.raises(EOFError):
            ours.receive(1.0)
        ours.close()


OPENS_MANY = """
import os
from saverproof.families.handlers import is_spent

def tell_nobody(*_): ...

assert not is_spent(None, tell_nobody)
opened = [os.dup(1) for _ in range(600)]
assert is_spent(None, tell_nobody)
for one in opened:
    os.close(one)
assert not is_spent(None, tell_nobody)
"""


def test_a_process_with_many_descriptors_left_open_is_spent() -> None:
    # Here, threads of other tests that were given up may still run.
    subprocess.run([sys.executable, "-c", OPENS_MANY], check=True)


def test_a_process_without_any_descriptor_is_spent() -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        lowest = os.dup(1)
        stack.callback(os.close, lowest)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, limits[1]))
        assert is_spent(None, tell_nobody)


def test_a_crash_is_told_with_the_stack(judge: JudgeProcess) -> None:
    error = gone(judge, "crash")
    assert error.reason == "the process died: SIGSEGV"
    assert "Segmentation fault" in error.stacks
    assert "in crash" in error.stacks


def test_an_exit_is_told_with_the_step(judge: JudgeProcess) -> None:
    error = gone(judge, "exit")
    assert (error.reason, error.step) == ("the process ended itself with status 7", 41)


def test_a_kill_is_told(judge: JudgeProcess) -> None:
    assert gone(judge, "kill").reason == "the process died: SIGKILL"


@pytest.mark.parametrize("limits", [{"silence_s": 0.3}, {"limit_s": 0.3}])
def test_a_hang_is_told_with_every_stack(judge: JudgeProcess, limits: dict[str, float]) -> None:
    error = gone(judge, "hang", **limits)
    assert (error.reason, error.step) == ("no answer after 0.3 s", 17)
    assert "in hang" in error.stacks
    assert "in waiting_elsewhere" in error.stacks
    assert "saverproof/process" not in error.stacks
    assert not psutil.pid_exists(judge.pid)


def test_a_hang_inside_c_is_ended(judge: JudgeProcess) -> None:
    assert "in hang_in_c" in gone(judge, "hang_in_c", silence_s=0.3).stacks


def test_a_saver_that_has_answered_is_not_blamed_for_silence(judge: JudgeProcess) -> None:
    with pytest.raises(JudgeError, match="gave no sign of life") as caught:
        judge.ask(asked("think"), {}, silence_s=0.3)
    assert "in think" in caught.value.details
    assert judge.closed


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No machine is so busy that what works for less than a second is cut off."""
    monkeypatch.setattr(silence, "CUT_OFF_AFTER", 3_000)


@pytest.mark.usefixtures("patient")
def test_a_call_that_is_at_work_is_waited_for(judge: JudgeProcess) -> None:
    assert judge.ask(asked("work"), {"processor_s": 0.6}, silence_s=0.2) == "done"


@pytest.mark.parametrize("work", ["work", "have_worked"])
def test_a_call_that_works_without_end_is_cut_off_and_not_called_hung(
    judge: JudgeProcess, work: str
) -> None:
    error = gone(judge, work, silence_s=0.3)
    assert error.reason == "cut off after 1.8 s without an answer, while it was still at work"
    assert error.cut_off
    assert f"in {work}" in error.stacks
    assert not psutil.pid_exists(judge.pid)


@pytest.mark.usefixtures("patient")
def test_a_call_that_stands_still_after_it_worked_hangs(judge: JudgeProcess) -> None:
    error = gone(judge, "work_and_hang", silence_s=0.3)
    assert error.reason == "no answer after 0.3 s"
    assert not error.cut_off


@pytest.mark.usefixtures("patient")
def test_a_call_that_only_looks_up_now_and_then_hangs(judge: JudgeProcess) -> None:
    error = gone(judge, "look_up", silence_s=0.5)
    assert (error.reason, error.step) == ("no answer after 0.5 s", 7)


def test_the_kit_at_work_after_an_answer_is_cut_off_and_not_the_saver(
    judge: JudgeProcess,
) -> None:
    with pytest.raises(JudgeError, match=r"the judge itself .* cut off after 1\.8 s") as caught:
        judge.ask(asked("work"), {"answered": True}, silence_s=0.3)
    assert "in work" in caught.value.details
    assert judge.closed


@pytest.mark.parametrize("work", ["beat", "chatter"])
def test_a_sign_of_life_holds_the_watchdog_off(judge: JudgeProcess, work: str) -> None:
    assert judge.ask(asked(work), {"silence_s": 1.0}, silence_s=1.0) == "done"


def test_a_child_that_closes_its_connection_is_ended(judge: JudgeProcess) -> None:
    assert gone(judge, "close_everything").reason == "the process closed its connection"
    assert not psutil.pid_exists(judge.pid)


def test_what_the_child_started_ends_with_it(judge: JudgeProcess) -> None:
    started = psutil.Process(judge.ask(asked("start_another"), {}))
    judge.close()
    assert eventually(lambda: not left_of([started]))


PARENT = """
import os, pathlib, signal, threading
from saverproof.process.client import JudgeProcess
from saverproof.process.environment import Setting
from saverproof.process.requests import Request, Service, as_it_is

judge = JudgeProcess(Setting.current(), Service("work"))
print(judge.pid, flush=True)
hang = Request(Service("work"), "hang_in_c", as_it_is, as_it_is)
threading.Thread(target=judge.ask, args=(hang, {}), daemon=True).start()
while not pathlib.Path("hanging").exists():
    threading.Event().wait(0.02)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_child_dies_with_the_process_that_started_it(tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(WORK)
    parent = subprocess.run(
        [sys.executable, "-c", PARENT],
        cwd=tmp_path,
        # What a killed process leaves there goes with the test.
        env={**os.environ, "PYTHONPATH": str(tmp_path), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    assert parent.returncode == -signal.SIGKILL
    with suppress(psutil.NoSuchProcess):
        judge = psutil.Process(int(parent.stdout))
        assert eventually(lambda: not left_of([judge]))


def test_a_beat_without_a_judge_process_is_no_sign_of_its_life() -> None:
    of_a_judge, file = heartbeat.Heartbeat.create()
    os.close(file)
    heartbeat.beat(3)
    heartbeat.beat(4)
    assert of_a_judge.read() == (0, 0)
    of_a_judge.close()
