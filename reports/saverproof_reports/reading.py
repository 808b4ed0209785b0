"""Read the JSON files back: usable data, or one line that says why not."""

import json
from pathlib import Path
from typing import Any

from saverproof_reports.errors import ReportError
from saverproof_reports.files import read_text
from saverproof_reports.schemas import problems
from saverproof_reports.text import one_line


def read_json(path: Path, schema: str, shape: str) -> dict[str, Any]:
    """Return the object in a file that names ``schema`` and fits the JSON Schema ``shape``.

    Raises:
        ReportError: the message is one line: the file, what was found, what was expected.
    """
    where = one_line(str(path))
    data = _parsed(path, where)
    if not isinstance(data, dict):
        raise ReportError(f"{where}: found {_kind(data)}, expected an object of {schema}")
    named = data.get("schema")
    if named != schema:
        found = "no schema" if named is None else f"schema {one_line(str(named), 60)}"
        raise ReportError(f"{where}: found {found}, expected {schema}")
    found_problems = problems(shape, data)
    if found_problems:
        raise ReportError(f"{where}: {found_problems[0]}")
    return data


def _parsed(path: Path, where: str) -> Any:
    try:
        return json.loads(read_text(path))
    except OSError as error:
        raise ReportError(f"{where}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ReportError(f"{where}: found bytes that are not UTF-8, expected JSON") from error
    except json.JSONDecodeError as error:
        at = f"line {error.lineno}, column {error.colno}"
        raise ReportError(f"{where}: is not whole JSON: {error.msg} at {at}") from error
    except RecursionError as error:
        raise ReportError(f"{where}: is nested too deeply to be a file of ours") from error
    except ValueError as error:
        raise ReportError(f"{where}: is not usable JSON: {one_line(str(error))}") from error


def _kind(data: object) -> str:
    if data is None:
        return "null"
    return {list: "a list", str: "text", bool: "a boolean"}.get(type(data), "a number")
