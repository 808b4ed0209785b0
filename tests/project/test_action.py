"""The action for other projects: its steps are executed as GitHub would."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
_INPUT = re.compile(r"\$\{\{ inputs\.(\w+) \}\}")
_OUTPUT = re.compile(r"\$\{\{ steps\.(\w+)\.outputs\.(\w+) \}\}")


def executed(folder: Path, **given: str) -> tuple[int, dict[str, str], str]:
    """The status of the first step that fails, the action's outputs, and what was printed."""
    inputs = {name: one["default"] for name, one in ACTION["inputs"].items()} | given
    outputs: dict[tuple[str, str], str] = {}
    printed, status = "", 0
    for step in (step for step in ACTION["runs"]["steps"] if "run" in step and not status):
        file = folder / f"{step['id']}.out"
        file.touch()
        environment = {
            **os.environ,
            **{
                name: _INPUT.sub(lambda m: inputs[m[1]], text) for name, text in step["env"].items()
            },
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_OUTPUT": str(file),
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            "GITHUB_ACTIONS": "true",
        }
        assert step["shell"] == "bash"
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        printed += done.stdout + done.stderr
        status = done.returncode
        for line in file.read_text("utf-8").splitlines():
            name, _, value = line.partition("=")
            outputs[step["id"], name] = value
    asked = {name: _OUTPUT.fullmatch(one["value"]) for name, one in ACTION["outputs"].items()}
    told = {name: outputs.get((m[1], m[2]), "") for name, m in asked.items() if m is not None}
    return status, told, printed


def test_the_action_judges_and_leaves_what_others_show(tmp_path: Path) -> None:
    status, outputs, printed = executed(
        tmp_path,
        saver="langgraph.checkpoint.sqlite:SqliteSaver",
        install="",
        requirement="",
        options="--saver-families=upsert --saver-api=sync --saver-known=none",
    )
    # LangGraph's own saver breaks a contract of this family.
    assert status == 1, printed
    assert "::error title=sqlite-saver%3A upsert/" in printed
    assert "sqlite-saver breaks 1 of" in (tmp_path / "summary.md").read_text("utf-8")
    badge = json.loads((tmp_path / outputs["badge"]).read_text("utf-8"))
    assert badge["label"] == "saverproof: sqlite-saver"
    assert badge["message"].startswith("breaks 1 of ")
    assert badge["color"] == "red"
    (run,) = json.loads((tmp_path / outputs["sarif"]).read_text("utf-8"))["runs"]
    assert {one["level"] for one in run["results"]} == {"error"}
    assert (tmp_path / outputs["report"] / "report.html").is_file()


def test_what_cannot_be_judged_fails_the_action_in_one_line(tmp_path: Path) -> None:
    status, outputs, printed = executed(tmp_path, saver="", install="", requirement="")
    assert status == 2
    assert set(outputs.values()) == {""}
    assert "SAVER: found none, and no [tool.saverproof] in pyproject.toml" in printed
    assert "Traceback" not in printed


def test_no_input_becomes_part_of_a_command() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_the_hook_and_the_container_name_what_is_there() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert shlex.split(hook["entry"]) == ["saverproof", "judge"]
    container = (ROOT / "Containerfile").read_text("utf-8")
    system: Any = re.search(
        r"servers\) packages=\((.*?)\)", (ROOT / ".ci/system-packages").read_text()
    )
    servers = set(system[1].split()) - {"chromium"}
    assert all(name in container.split() for name in servers)
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    extras: Any = re.search(r"/src\[(.*?)\]", container)
    assert all(f"\n{extra} = [" in project for extra in extras[1].split(","))
