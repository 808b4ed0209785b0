"""Scripts end with 1 and a clear message on the wrong saver, and with 0 on the right one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conformance.reproducer_cases import CASES, CROSSED, SHOWN_BY_READS_BETWEEN, Case
from tests.conformance.reproducer_support import (
    of_a_shut_saver,
    of_the_right_saver,
    target_of,
    wrong_saver,
)
from tests.conformance.script_runs import CANNOT_TELL, ended_here
from tests.wrong_savers.registry import opener

from saverproof.families.durability.kills.scripting import KillScript
from saverproof.families.machines.explaining.trials import Trials
from saverproof.judging.session import Breach
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.programs.steps.definitions import Program, Put
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.target import Target
from saverproof.scripts import reproducer, reproducers
from saverproof.scripts.opening import opening_of
from saverproof.scripts.script import LONGEST


@pytest.fixture(scope="module")
def loop() -> Iterator[EventLoop]:
    with EventLoop() as running:
        yield running


def shown(
    target: Target, case: Case, api: str, loop: EventLoop, folder: Path
) -> tuple[Program, Breach]:
    """The program up to the step that shows the case's fact, and what it shows."""
    apis = ("sync", "async") if api == "crossed" else (api,)
    trials = Trials(target, folder, loop, apis)
    watch = case.fact.startswith("input")
    run = trials.replay(case.program, thorough=True, watch_inputs=watch)
    found = [b for b in run.breaches if b.difference.fact.startswith(case.fact)]
    assert found, [b.difference for b in run.breaches]
    return run.program[: found[0].position], found[0]


def script_of(case: Case, api: str, loop: EventLoop, folder: Path) -> str:
    target = target_of(case.saver)
    program, breach = shown(target, case, api, loop, folder)
    return reproducer(target, program, breach, api, name=wrong_saver(case.saver).breaks)


def message_of(script: str) -> str | None:
    """What the script ends with when it is run in this process; None if it ends well."""
    status, message = ended_here(script)
    assert status < CANNOT_TELL, message
    return message or None


def parameters() -> Iterator[object]:
    for position, case in enumerate(CASES):
        apis = wrong_saver(case.saver).apis
        api = apis[position % len(apis)]
        yield pytest.param(case, api, id=f"{case}-{api}")
    for case in CROSSED:
        yield pytest.param(case, "crossed", id=f"{case}-crossed")


@pytest.mark.parametrize(("case", "api"), list(parameters()))
def test_a_script_complains_of_the_wrong_saver_alone(
    case: Case, api: str, loop: EventLoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A process for each script would take minutes; the tests beside this one have them.
    tried: list[str] = []

    def complains(text: str, promise: str) -> bool:
        tried.append(text)
        return message_of(text) is not None

    monkeypatch.setattr(reproducers, "complains", complains)
    script = script_of(case, api, loop, tmp_path)
    assert len(tried) == (2 if case.saver in SHOWN_BY_READS_BETWEEN else 1)
    message = message_of(script)
    assert message is not None
    assert message.startswith(wrong_saver(case.saver).breaks)
    assert "\nexpected: " in message
    assert "\nobserved: " in message
    assert message_of(of_the_right_saver(script)) is None
    assert ended_here(of_a_shut_saver(script))[0] == CANNOT_TELL
    assert script.count("\n") <= LONGEST, script
    assert "saverproof" not in script
    dense = script.startswith("# fmt: off")
    # What is imported may be missing, and how that ends is said before.
    ignored = "E402,I001" if dense else "E402"
    assert ruff("check", "--ignore", ignored, script=script) == ""
    if dense:
        # Only what would be too long is dense, two lines on its exit status among them.
        laid_out = ruff("format", "--line-length=100", script=script.partition("\n")[2])
        assert laid_out.count("\n") + 2 > LONGEST
    else:
        assert ruff("format", "--line-length=100", script=script) == script


def ruff(*arguments: str, script: str) -> str:
    """What ruff says of a script, or makes of it, with its own default rules."""
    command = [sys.executable, "-m", "ruff", *arguments, "--isolated", "--quiet", "-"]
    return subprocess.run(command, input=script, capture_output=True, text=True, check=False).stdout


def test_an_opener_of_the_helpers_name_stays_as_it_is() -> None:
    own = "@contextmanager\ndef opened(path):\n    yield Saver(path)\nopened(path)"
    opening = opening_of(Target(name="own", open=opener(ReferenceSaver), opening=own))
    assert opening is not None
    lines = KillScript(opening, (Put("a", "", 1),), "sync", "own").functions()
    assert "def opened(path):" not in lines
