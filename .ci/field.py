"""The field: ``make field`` judges released savers; the page docs/field.md is made of the results.

    .ci/field.py run [TARGET...]   judge what field/packages.toml names, or these targets of it
    .ci/field.py page              print docs/field.md

Each release is judged in an environment of its own, with the quick profile and seed 0. Of its
report only what the page needs stays, in field/results.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from saverproof_reports import load_report
from saverproof_reports.markup import linked, plain
from saverproof_reports.wording import saver_sentence

ROOT = Path(__file__).parents[1]
FIELD = ROOT / "field"
RESULTS = FIELD / "results"

_INTRODUCTION = """\
# Released savers

<!-- Generated: python .ci/field.py page > docs/field.md -->

What saverproof's quick profile finds in released savers, each release in an environment of its own
(`make field`). A quick run is short: what it does not find may be there all the same. Which
contract means what, and how a saver is mended, is in [Contracts](contracts.md).
"""


def packages() -> Iterator[dict[str, Any]]:
    """Yield each release to judge: distribution, version, target and extras."""
    for one in tomllib.loads((FIELD / "packages.toml").read_text("utf-8"))["package"]:
        for version in one["releases"]:
            yield {
                "distribution": one["distribution"],
                "version": version,
                "target": one["target"],
                "extras": one.get("extras", []),
            }


def reduced(report: Mapping[str, Any], package: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page needs of a report: small, and the same in every run but for races."""
    (judged,) = report["savers"]
    contracts = judged["contracts"]
    return {
        "distribution": package["distribution"],
        "version": package["version"],
        "target": package["target"],
        "class": judged["saver"]["class"],
        "kit": report["environment"]["packages"]["saverproof"],
        "langgraph-checkpoint": report["environment"]["packages"]["langgraph-checkpoint"],
        "profile": report["run"]["profile"],
        "sentence": saver_sentence(judged),
        "broken": [
            {
                "id": one["id"],
                "level": one["level"],
                "apis": sorted({violation["api"] for violation in one["violations"]}),
                "seen": one["violations"][0]["summary"],
                "matters": one.get("matters", ""),
            }
            for one in contracts
            if one["verdict"] == "violated"
        ],
        "undecided": {
            one["id"]: one["verdict"]
            for one in contracts
            if one["level"] == "must" and one["verdict"] in ("unknown", "not-exercised")
        },
    }


def write(result: Mapping[str, Any]) -> Path:
    """Write a result to its file."""
    path = RESULTS / f"{result['target']}-{result['version']}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return path


def results() -> list[dict[str, Any]]:
    """Return every result, by target, the newest release first."""
    found = [json.loads(path.read_text("utf-8")) for path in RESULTS.glob("*.json")]
    in_order = sorted(found, key=lambda one: _release(one["version"]), reverse=True)
    return sorted(in_order, key=lambda one: str(one["target"]))


def _release(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


def page() -> str:
    """Return docs/field.md."""
    found = results()
    rows = ["| saver | release | verdict | musts that it breaks |", "|---|---|---|---|"]
    for one in found:
        musts = [broken["id"] for broken in one["broken"] if broken["level"] == "must"]
        shown = ", ".join(map(_contract, musts)) or "none was found"
        name = f"`{one['target']}`<br>`{one['class']}`"
        release = f"{one['distribution']} {one['version']}"
        rows.append(f"| {name} | {release} | {one['sentence']} | {shown} |")
    return "\n".join([_INTRODUCTION, *rows, "", *_consequences(found)]) + "\n"


def _contract(name: str) -> str:
    return f"[{name}](contracts.md#{name.replace('/', '')})"


def _consequences(found: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what each broken must means to users of agents, and which releases break it."""
    yield "## What happens to agents"
    broken: dict[str, list[tuple[str, str, str]]] = {}
    for one in found:
        for each in one["broken"]:
            if each["level"] == "must":
                release = f"`{one['target']}` {one['version']} ({', '.join(each['apis'])})"
                broken.setdefault(each["id"], []).append((release, each["matters"], each["seen"]))
    for name, releases in sorted(broken.items()):
        matters = linked(releases[0][1])
        yield f"\n**{_contract(name)}**. What may follow where it breaks: {matters}\n"
        yield from (f"- {release}: {plain(seen)}" for release, _, seen in releases)
    yield (
        "\n`saverproof judge TARGET` shows each again, with a script; "
        "[`--saver-known=shipped`](known.md#flaws-of-released-savers) excuses what is listed for a "
        "release."
    )


@click.group(help=__doc__)
def main() -> None:
    """Read the name of a step."""


@main.command("run")
@click.argument("targets", nargs=-1)
def run_all(targets: tuple[str, ...]) -> None:
    """Judge the releases, those of TARGETS alone if some are given."""
    known = {package["target"] for package in packages()}
    if strange := set(targets) - known:
        raise click.UsageError(
            f"found {min(strange)!r}, expected one of {', '.join(sorted(known))}"
        )
    for package in packages():
        if not targets or package["target"] in targets:
            click.echo(f"{package['target']} {package['version']}")
            with tempfile.TemporaryDirectory(prefix="saverproof-field-") as folder:
                click.echo(f"  {write(_judged(package, Path(folder)))}")


def _judged(package: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Judge one release in an environment of its own."""
    python = folder / "venv" / "bin" / "python"
    requirement = f"{package['distribution']}=={package['version']}"
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, str(ROOT), requirement, *package["extras"]], check=True)
    judge = [str(python), "-m", "saverproof.cli", "judge", package["target"]]
    report = folder / "report"
    done = subprocess.run(
        [*judge, f"--saver-report={report}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise click.ClickException(f"{requirement}: {(done.stdout + done.stderr).strip()[-400:]}")
    return reduced(load_report(report), package)


@main.command("page")
def print_page() -> None:
    """Print docs/field.md."""
    click.echo(page(), nl=False)


if __name__ == "__main__":
    main()
