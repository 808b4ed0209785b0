"""Where the seconds of a run go: by family and API, with the saver's own share and the start.

Runs ``pytest --saver`` with this file as a plugin. It reads the processor time of the run's whole
tree of processes around each item, and the rest from the report. ``wait`` is wall time beyond the
processor time; processes side by side hide some of it. What else the machine does changes ``wall``
a lot and ``cpu`` a little: compare versions by turns, by ``cpu``, and only while the counts of what
was judged are the same.

    python tests/benchmarks/bench_default_run.py --saver sqlite -n 2
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import click
import psutil
import pytest
from rich.console import Console
from rich.table import Table

_FILE = "SAVERPROOF_BENCH_FILE"
"""Where the plugin, in whichever process, writes a line for each item."""


def cpu_s(root: psutil.Process) -> float:
    """Processor seconds so far of a process, its living descendants and its dead children."""
    total = 0.0
    for process in (root, *root.children(recursive=True)):
        try:
            total += sum(process.cpu_times()[:4])
        except psutil.NoSuchProcess:
            continue
    return total


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Write down what an item took."""
    own = psutil.Process()
    wall, cpu = time.monotonic(), cpu_s(own)
    outcome = yield
    spent = {
        "name": item.name.replace("[", " ").rstrip("]"),
        "worker": os.environ.get("PYTEST_XDIST_WORKER", "main"),
        "began": wall,
        "wall": time.monotonic() - wall,
        "cpu": cpu_s(own) - cpu,
    }
    with Path(os.environ[_FILE]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(spent) + "\n")
    return outcome


def run(saver: str, arguments: tuple[str, ...], folder: Path) -> dict[str, Any]:
    """Judge a saver; what each item took, and the whole."""
    items = folder / "items.jsonl"
    environment = {
        **os.environ,
        _FILE: str(items),
        "PYTHONPATH": os.pathsep.join(
            [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
        ),
    }
    before, began = os.times(), time.monotonic()
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("-p", Path(__file__).stem, f"--saver={saver}", f"--saver-report={folder / 'report'}"),
            *arguments,
        ],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    wall, after = time.monotonic() - began, os.times()
    if not items.exists():
        raise click.ClickException(f"nothing was judged:\n{done.stdout}")
    report = json.loads((folder / "report" / "report.json").read_text(encoding="utf-8"))
    return {
        "items": [json.loads(line) for line in items.read_text(encoding="utf-8").splitlines()],
        "wall": wall,
        "began": began,
        "cpu": sum(after[2:4]) - sum(before[2:4]),
        "status": done.returncode,
        "report": report,
    }


def times_of(spent: dict[str, Any]) -> Table:
    """A line for each item, in the order in which they began, and for what is outside them."""
    table = Table(title="seconds, by family and API")
    for column in ("item", "worker", "began", "wall", "cpu", "wait"):
        table.add_column(column, justify="left" if column in ("item", "worker") else "right")
    for item in sorted(spent["items"], key=lambda each: each["began"]):
        _add(table, item["name"], item["worker"], item["began"] - spent["began"], item)
    judged = {key: sum(item[key] for item in spent["items"]) for key in ("wall", "cpu")}
    _add(table, "all items", "", None, judged)
    _add(table, "the whole run", "", None, spent)
    first = min(item["began"] for item in spent["items"]) - spent["began"]
    table.add_row("until the first item", "", "", f"{first:.2f}", "", "")
    saver_s = sum(judged["timing"]["saver_s"] for judged in spent["report"]["savers"])
    table.add_row("in the saver, as reported", "", "", f"{saver_s:.2f}", "", "")
    return table


def _add(table: Table, name: str, worker: str, began: float | None, took: dict[str, Any]) -> None:
    wall, cpu = took["wall"], took["cpu"]
    start = "" if began is None else f"{began:.1f}"
    table.add_row(name, worker, start, f"{wall:.2f}", f"{cpu:.2f}", f"{max(0.0, wall - cpu):.2f}")


def counts_of(report: dict[str, Any]) -> Table:
    """What was judged: a run that takes less for judging less has won nothing."""
    table = Table(title="judged")
    table.add_column("count")
    for judged in report["savers"]:
        table.add_column(judged["saver"]["name"], justify="right")
    counts = [_counts(judged) for judged in report["savers"]]
    for name in counts[0]:
        table.add_row(name, *(f"{each[name]:,}" for each in counts))
    return table


def _counts(judged: dict[str, Any]) -> dict[str, int]:
    def of(section: str, name: str) -> int:
        return int((judged.get(section) or {}).get(name, 0))

    verdicts = [contract["verdict"] for contract in judged["contracts"]]
    checked = sum(sum(contract["checked"].values()) for contract in judged["contracts"])
    return {
        "contracts held": verdicts.count("held"),
        "checks": checked,
        "operations": judged["timing"]["operations"],
        "places failed": of("faults", "points"),
        "faults injected": of("faults", "injected"),
        "processes killed": of("crash", "trials"),
        "disks after power cuts": of("power", "images"),
        "operations side by side": of("concurrency", "operations"),
    }


@click.command(help=__doc__, context_settings={"ignore_unknown_options": True})
@click.option("--saver", default="sqlite", help="The saver to judge.")
@click.option("--json", "keep", type=click.Path(path_type=Path), help="Also write all of it here.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def main(saver: str, keep: Path | None, arguments: tuple[str, ...]) -> None:
    """Run, and print."""
    with tempfile.TemporaryDirectory() as folder:
        spent = run(saver, arguments, Path(folder))
    if keep is not None:
        keep.write_text(json.dumps(spent), encoding="utf-8")
    console = Console(width=100)
    console.print(times_of(spent))
    console.print(counts_of(spent["report"]))
    if spent["status"]:
        raise SystemExit(spent["status"])


if __name__ == "__main__":
    main()
