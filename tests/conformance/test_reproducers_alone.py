"""Scripts in processes of their own: nothing but a file, a Python, and the saver.

By day most through one API; the other one by night.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from tests.conformance.reproducer_support import of_a_shut_saver, of_the_right_saver, target_of
from tests.conformance.script_runs import CANNOT_TELL
from tests.nights import by_night

from saverproof.families.machines.explaining.trials import Trials
from saverproof.judging.facts import HANG, Difference, Fact
from saverproof.judging.scenes import CallOnLoop, event_loop
from saverproof.judging.session import Breach
from saverproof.programs.steps.definitions import (
    GetTuple,
    ListTuples,
    Program,
    Put,
    PutWrites,
    Reopen,
)
from saverproof.programs.values import Value
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.finding import find
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.target import Target
from saverproof.savers.workspace import Workspace
from saverproof.scripts import (
    death_reproducer,
    operation_reproducer,
    reproducer,
    signature_reproducer,
    verification,
)
from saverproof.scripts.script import LONGEST

PUT = Put("a", "", 1, changes=(("notes", Value("text", "x")),))
WRITES = PutWrites("a", "", 1, 1, (("notes", Value("text", "y")),))


@pytest.fixture(scope="module")
def loop() -> Iterator[EventLoop]:
    with EventLoop() as running:
        yield running


def ended(script: str, folder: Path) -> tuple[int, str]:
    """Exit status and standard error of a script run from another folder."""
    path = folder / "script.py"
    path.write_text(script, encoding="utf-8")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    # A script of what hangs ends itself by force, and leaves its own folder behind.
    done = subprocess.run(
        [sys.executable, str(path)],
        cwd=elsewhere,
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert list(elsewhere.iterdir()) == []
    return done.returncode, done.stderr


def script_of(
    target: Target, program: Program, api: str, loop: EventLoop, folder: Path, name: str = "x/y"
) -> str:
    apis = ("sync", "async") if api == "crossed" else (api,)
    run = Trials(target, folder, loop, apis).replay(program)
    breach = run.breaches[0]
    return reproducer(target, run.program[: breach.position], breach, api, name=name)


@pytest.mark.parametrize(
    ("saver", "program", "api", "expected"),
    [
        ("put-answers-none", (PUT,), "sync", "('a', '',"),
        by_night("oldest-first", (PUT, Put("a", "", 2, 1), ListTuples("a")), "async", "['1f0c8a43"),
        ("two-stores", (PUT, Put("a", "", 2, 1)), "crossed", "'the checkpoint'"),
    ],
)
def test_a_script_tells_what_was_expected_and_observed_and_nothing_else(
    saver: str, program: Program, api: str, expected: str, loop: EventLoop, tmp_path: Path
) -> None:
    script = script_of(target_of(saver), program, api, loop, tmp_path, "kept/promise")
    status, said = ended(script, tmp_path)
    assert status == 1
    assert said.startswith("kept/promise: ")
    assert f"\nexpected: {expected}" in said
    assert "\nobserved: " in said
    assert "Traceback" not in said
    assert ended(of_the_right_saver(script), tmp_path) == (0, "")
    status, said = ended(of_a_shut_saver(script), tmp_path)
    assert status == CANNOT_TELL
    assert said.endswith("\nOSError: the store is shut\nundecided\n")


def test_a_script_whose_package_is_missing_decides_nothing(loop: EventLoop, tmp_path: Path) -> None:
    script = script_of(target_of("put-answers-none"), (PUT,), "sync", loop, tmp_path)
    status, said = ended(script.replace("reproducer_support", "not_installed"), tmp_path)
    assert status == CANNOT_TELL
    assert said.endswith("No module named 'tests.conformance.not_installed'\nundecided\n")


FILE = """
    from contextlib import {kind}
    from langgraph.checkpoint.memory import InMemorySaver
    from saverproof import target

    class Forgetful(InMemorySaver):
        def get_tuple(self, config):
            found = super().get_tuple(config)
            return found and found._replace(pending_writes=[])

        async def aget_tuple(self, config):
            return self.get_tuple(config)

    def leave_a_mark(workspace):
        with open({mark!r}, "a") as file:
            file.write(workspace.name + "\\n")

    @target(durable=False, drop=leave_a_mark)
    @{kind}
    {asynchronous}def forgetful(workspace):
        yield Forgetful()
"""


def file_target(folder: Path, mark: Path, kind: str, name: str) -> Target:
    """A third party's target in a file, outside of any package; a module is imported once."""
    asynchronous = "async " if kind == "asynccontextmanager" else ""
    text = FILE.format(kind=kind, asynchronous=asynchronous, mark=str(mark))
    (folder / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
    return load(find(f"{name}.py:forgetful", folder))


@pytest.mark.parametrize(
    ("kind", "api"),
    [
        ("contextmanager", "sync"),
        ("asynccontextmanager", "sync"),
        ("asynccontextmanager", "async"),
    ],
)
def test_without_an_opening_text_the_authors_function_opens_the_saver(
    kind: str, api: str, loop: EventLoop, tmp_path: Path
) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    mark = tmp_path / "dropped.txt"
    target = file_target(folder, mark, kind, f"{kind}_{api}")
    script = script_of(target, (PUT, WRITES), api, loop, tmp_path)
    imported = [line for line in script.splitlines() if "import" in line and "saverproof" in line]
    assert imported == ["from saverproof import Workspace"]
    assert script.count("\n") <= LONGEST
    mark.unlink()
    status, said = ended(script, tmp_path)
    assert (status, "observed: []" in said) == (1, True)
    assert len(mark.read_text().split()) == 1


def test_a_target_that_cannot_be_imported_has_no_script(loop: EventLoop, tmp_path: Path) -> None:
    nameless = Target(name="nameless", open=target_of("put-answers-none").open)
    assert script_of(nameless, (PUT,), "sync", loop, tmp_path) == ""


def test_what_a_process_left_behind_alone_shows_has_no_script(
    loop: EventLoop, tmp_path: Path
) -> None:
    source = (
        "from langgraph.checkpoint.memory import InMemorySaver\n"
        "from contextlib import nullcontext\n"
        "nullcontext(InMemorySaver())"
    )
    wrong = target_of("put-answers-none")
    mended = Target(name="mended", open=wrong.open, opening=source)
    assert script_of(mended, (PUT,), "sync", loop, tmp_path) == ""


def test_a_call_that_waits_for_its_own_loop_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_loop, "PATIENCE_S", 0.3)
    step = CallOnLoop("get_tuple", "a", 1)
    hang = Difference(Fact(HANG), None, "get_tuple to answer or raise", "no answer", look=step)
    breach = Breach("parity/no-event-loop-hang", hang, 1, step)
    target = target_of("get-waits-for-its-own-loop")
    script = reproducer(target, (step,), breach, "sync", name="parity/no-event-loop-hang")
    status, said = ended(script, tmp_path)
    assert (status, said.startswith("parity/no-event-loop-hang: ")) == (1, True)
    assert ended(of_the_right_saver(script), tmp_path) == (0, "")
    assert ended(of_a_shut_saver(script), tmp_path)[0] == CANNOT_TELL
    leaves_nothing(script, 1, tmp_path)
    leaves_nothing(of_the_right_saver(script), 0, tmp_path)


def leaves_nothing(script: str, status: int, folder: Path) -> None:
    """Run a script as a user does, who has set no folder for temporary files of its own."""
    (folder / "script.py").write_text(script, encoding="utf-8")
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    command = [sys.executable, str(folder / "script.py")]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    assert subprocess.run(command, env=environment, capture_output=True).returncode == status
    assert not [*temporary.iterdir()]


@pytest.mark.parametrize(
    ("saver", "operation"),
    [("no-list", "list"), ("no-delete-thread", "delete_thread")],
)
def test_an_operation_that_is_missing_has_a_script(
    saver: str, operation: str, tmp_path: Path
) -> None:
    script = operation_reproducer(target_of(saver), operation, "sync", name="interface/complete")
    status, said = ended(script, tmp_path)
    assert (status, said.startswith("interface/complete: ")) == (1, True)
    assert ended(of_the_right_saver(script), tmp_path) == (0, "")


@pytest.mark.parametrize(
    ("saver", "api"),
    [
        ("no-task-path", "sync"),
        by_night("no-task-path", "async"),
        ("async-passes-on-arguments", "async"),
    ],
)
def test_a_missing_task_path_has_a_script(saver: str, api: str, tmp_path: Path) -> None:
    contract = "pending-writes/accepts-task-path"
    script = signature_reproducer(target_of(saver), api, name=contract)
    status, said = ended(script, tmp_path)
    assert (status, said.startswith(f"{contract}: ")) == (1, True)
    assert ended(of_the_right_saver(script), tmp_path) == (0, "")


ONCE = """
    import os
    from contextlib import contextmanager
    from langgraph.checkpoint.memory import InMemorySaver

    @contextmanager
    def once(path):
        os.mkdir(path + "/only")
        yield InMemorySaver()

    once(path)
"""


@contextmanager
def once(workspace: Workspace) -> Iterator[InMemorySaver]:
    (workspace.path / "only").mkdir()
    yield InMemorySaver()


@pytest.mark.parametrize(
    ("before", "status"),
    [
        ("pass", 1),
        ("raise OSError('shut')", 2),
        ("InMemorySaver.put = None  # the step before cannot be taken", 2),
    ],
)
def test_only_what_is_opened_again_is_held_against_a_saver(
    before: str, status: int, loop: EventLoop, tmp_path: Path
) -> None:
    target = Target(name="once", open=once, opening=ONCE)
    script = script_of(target, (PUT, Reopen()), "sync", loop, tmp_path)
    changed = script.replace("    os.mkdir", f"    {before}\n    os.mkdir")
    assert ended(changed, tmp_path)[0] == status
    mended = script.replace("os.mkdir", "len")
    assert ended(mended, tmp_path) == (0, "")


def test_a_process_that_dies_has_a_script_that_dies(tmp_path: Path) -> None:
    dying = (
        "import os\n"
        "from contextlib import nullcontext\n"
        "from langgraph.checkpoint.memory import InMemorySaver\n"
        "class Dying(InMemorySaver):\n"
        "    def get_tuple(self, config):\n"
        "        os._exit(7)\n"
        "nullcontext(Dying())"
    )
    target = Target(name="dying", open=target_of("put-answers-none").open, opening=dying)
    script = death_reproducer(target, (PUT, GetTuple("a", "", 1)), "sync", name="identity/parent")
    assert ended(script, tmp_path)[0] == 7


def test_a_script_that_fails_otherwise_shows_nothing(tmp_path: Path) -> None:
    assert not verification.complains_here('"""promise"""\nraise ValueError("promise")')
    assert not verification.complains_here('"""promise"""\nraise SystemExit("another")')
    assert not verification.complains_here('"""promise"""')
    assert verification.complains_here('"""promise"""\nraise SystemExit(f"{__doc__} is broken")')
