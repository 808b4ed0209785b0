"""Artefacts: one violation as data, from which it can be run again exactly."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from saverproof_reports.errors import ReportError
from saverproof_reports.files import write_private
from saverproof_reports.reading import read_json
from saverproof_reports.schemas import problems
from saverproof_reports.text import harmless, one_line

SCHEMA = "saverproof-artefact/1"


def artefact(
    *,
    contract: str,
    saver: str,
    target: str | Mapping[str, Any],
    versions: Mapping[str, str],
    api: str,
    phase: str,
    seed: int,
    program: Any,
    fault_plan: Any = None,
    schedule: Any = None,
    summary: str = "",
    steps: Iterable[str] = (),
    steady: bool | None = None,
) -> dict[str, Any]:
    """Return an artefact, as ``schema/artefact-1.json`` describes it.

    ``program``, ``fault_plan`` and ``schedule`` are the judges' own JSON data, kept exactly.
    ``target`` tells a process how to find the target. ``steady`` says whether the violation shows
    each time (see ``steadiness``); None if that is not known.
    """
    return {
        "schema": SCHEMA,
        "contract": contract,
        "saver": saver,
        "target": target,
        "versions": dict(versions),
        "api": api,
        "phase": phase,
        "seed": seed,
        "program": program,
        "fault_plan": fault_plan,
        "schedule": schedule,
        "summary": one_line(summary),
        "steps": [harmless(step) for step in steps],
        **({} if steady is None else {"steady": steady}),
    }


def artefact_text(data: Mapping[str, Any]) -> str:
    """Return ``data`` as ASCII JSON, lone surrogates included.

    Raises:
        ReportError: ``data`` is not an artefact.
    """
    found = problems("artefact-1", data)
    if found:
        raise ReportError(f"no artefact: {found[0]}")
    try:
        return json.dumps(data, ensure_ascii=True, allow_nan=False, indent=1) + "\n"
    except (ValueError, TypeError) as error:
        raise ReportError(f"no artefact: found what JSON cannot hold: {error}") from error


def write_artefact(data: Mapping[str, Any], path: Path) -> None:
    """Write the artefact ``data`` to ``path``, atomically, readable by its owner alone."""
    write_private(path, artefact_text(data))


def read_artefact(path: Path) -> dict[str, Any]:
    """Return the artefact in the file ``path``.

    Raises:
        ReportError: the file cannot be used; the message is one line.
    """
    return read_json(path, SCHEMA, "artefact-1")
