"""A kind of server as text, by which a keeper, which is another process, makes it again."""

from __future__ import annotations

import dataclasses
import importlib
import json

from saverproof_faults.servers.kinds import ServerKind
from saverproof_faults.servers.server import ServerUnavailable


def text_of(kind: ServerKind) -> str:
    """Return the class and the fields of a kind as JSON. Equal kinds have equal texts.

    Raises:
        ServerUnavailable: another process could not make the kind of this text.
    """
    here = type(kind)
    if dataclasses.is_dataclass(kind) and "<locals>" not in here.__qualname__:
        fields = {field.name: getattr(kind, field.name) for field in dataclasses.fields(kind)}
        text = json.dumps([here.__module__, here.__qualname__, fields], default=_refused)
        if _is_kept(fields, text):
            return text
    raise ServerUnavailable(
        f"{here.__name__} cannot be handed to the process that looks after the server; expected an "
        "object of a dataclass that a module defines, whose fields JSON can hold"
    )


def _refused(value: object) -> object:
    """Return a stand-in for a value that JSON cannot hold; no value equals it."""
    return [type(value).__name__]


def _is_kept(fields: dict[str, object], text: str) -> bool:
    return bool(json.loads(text)[2] == fields)


def kind_of(text: str) -> ServerKind:
    """Make the kind of which ``text_of`` returned the text.

    Raises:
        ServerUnavailable: there is no such class here.
    """
    module, name, fields = json.loads(text)
    found: object = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    if not (isinstance(found, type) and issubclass(found, ServerKind)):
        raise ServerUnavailable(f"{module}.{name} is no kind of server")
    kind: ServerKind = found(**fields)
    return kind
