"""The JSON Schemas of the files, and one-line messages for what does not fit them."""

import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from saverproof_reports.text import one_line

_MOST_PROBLEMS = 20
"""The most problems in a message: a file of another kind has one for each field."""


def schema(name: str) -> dict[str, Any]:
    """Return the shipped JSON Schema ``name`` (``report-1`` or ``artefact-1``)."""
    text = files("saverproof_reports").joinpath("schema", f"{name}.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(schema(name))


def problems(name: str, data: object) -> list[str]:
    """Return where ``data`` departs from the schema ``name``, one line each, at most twenty."""
    errors: Iterable[ValidationError] = _validator(name).iter_errors(data)
    # Every missing field of one object is an error of its own, and gives the same line.
    return list(dict.fromkeys(_line(error) for error in islice(errors, _MOST_PROBLEMS)))


def _line(error: ValidationError) -> str:
    wanted: Any = error.validator_value
    instance: Any = error.instance
    if error.validator == "required":
        missing = [name for name in wanted if name not in instance]
        return f"{_place(error)}: found no {', '.join(missing)}, which is required"
    found = one_line(json.dumps(instance, default=lambda value: type(value).__name__), 80)
    return f"{_place(error)}: found {found}, expected {_expected(error.validator, wanted)}"


def _place(error: ValidationError) -> str:
    place = ""
    for part in error.absolute_path:
        place += f"[{part}]" if isinstance(part, int) else f".{part}"
    return one_line(place.lstrip("."), 120) or "the whole"


def _expected(rule: object, wanted: Any) -> str:
    match rule:
        case "type":
            return " or ".join([wanted] if isinstance(wanted, str) else wanted)
        case "enum":
            return "one of " + ", ".join(map(str, wanted))
        case "const":
            return str(wanted)
        case "pattern":
            return f"text like {wanted}"
        case "minimum":
            return f"at least {wanted}"
        case other:
            return one_line(f"{other} {wanted}", 80)
