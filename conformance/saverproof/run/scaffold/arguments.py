"""Guess the arguments of something that opens a saver, from the names of its parameters."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from inspect import Parameter

FILE = 'workspace.path / "checkpoints.db"'
ENVIRONMENT = "SAVER_DSN"
"""The environment variable with a server's address, for savers that need one."""

_URLS = (
    'f"sqlite:///{workspace.path}/checkpoints.db"',  # SQLAlchemy, peewee, dataset
    'f"sqlite+aiosqlite:///{workspace.path}/checkpoints.db"',  # SQLAlchemy's async engines
    'f"sqlite://{workspace.path}/checkpoints.db"',  # Tortoise: the slash is the path's own
)
"""A file in the form of the addresses that object mappers take."""

_FILES = re.compile(r"(^|_)(path|file|filename|db|database|location|store|storage)(_|$)")
_FOLDERS = re.compile(r"(^|_)(dir|directory|folder|root)(_|$)")
_ADDRESSES = re.compile(r"(^|_)(conn_string|connection_string|conninfo|dsn|url|uri)(_|$)")
_CONNECTIONS = re.compile(r"^(conn|connection|db)$")
_ENGINES = re.compile(r"(^|_)engine$")
_CLIENTS = re.compile(r"(^|_)(client|mongo)$")


@dataclass(frozen=True, slots=True)
class Argument:
    """Source text for one parameter, with the lines and imports that it needs."""

    parameter: Parameter
    source: str
    before: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    on_loop: bool = False
    by_name: bool = False


def arguments_for(parameters: Sequence[Parameter]) -> Iterator[tuple[Argument, ...]]:
    """Yield the combinations of arguments to try, the likeliest first.

    Parameters with a default keep it, except one that says where the data is stored: by default a
    saver may keep the data in memory, or in a place that others share. Nothing is yielded if a
    required parameter cannot be guessed.
    """
    plain = [one for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    required = [one for one in plain if one.default is Parameter.empty]
    optional = [one for one in plain if one.default is not Parameter.empty]
    guesses = [list(_guesses(one)) for one in required]
    for place in (one for one in optional if any(_guesses(one))):
        by_name = [_named(guess) for guess in _guesses(place)]
        yield from itertools.product(*guesses, by_name)
    yield from itertools.product(*guesses)


def _named(guess: Argument) -> Argument:
    return Argument(
        guess.parameter,
        guess.source,
        guess.before,
        guess.imports,
        guess.on_loop,
        by_name=True,
    )


def _guesses(parameter: Parameter) -> Iterator[Argument]:
    name, annotation = parameter.name, str(parameter.annotation)
    if "aiosqlite" in annotation:
        yield _connection(parameter, "aiosqlite")
    elif "sqlite3" in annotation or (_CONNECTIONS.search(name) and "str" not in annotation):
        yield _connection(parameter, "sqlite3")
        yield _connection(parameter, "aiosqlite")
    elif _ENGINES.search(name):
        yield from _engines(parameter)
    elif _CLIENTS.search(name) and "mongo" in f"{annotation} {name}".lower():
        yield _mongo(parameter)
    if _ADDRESSES.search(name):
        yield Argument(parameter, f"str({FILE})")
        yield from (Argument(parameter, url) for url in _URLS)
        yield from_environment(parameter)
    elif _FOLDERS.search(name):
        yield from _paths(parameter, "workspace.path")
    elif _FILES.search(name):
        yield from _paths(parameter, FILE)
        yield from _paths(parameter, "workspace.path")


def from_environment(parameter: Parameter) -> Argument:
    """Return an argument for the address of a server, which only the author knows."""
    return Argument(parameter, f'os.environ["{ENVIRONMENT}"]', imports=("import os",))


def _engines(parameter: Parameter) -> Iterator[Argument]:
    """Yield engines of SQLAlchemy on a file, for threads and for an event loop."""
    plain, asynchronous, _ = _URLS
    yield Argument(
        parameter,
        f"create_engine({plain})",
        imports=("from sqlalchemy import create_engine",),
    )
    yield Argument(
        parameter,
        f"create_async_engine({asynchronous})",
        imports=("from sqlalchemy.ext.asyncio import create_async_engine",),
        on_loop=True,
    )


def _mongo(parameter: Parameter) -> Argument:
    source = f'MongoClient(os.environ["{ENVIRONMENT}"])'
    return Argument(parameter, source, imports=("import os", "from pymongo import MongoClient"))


def _paths(parameter: Parameter, source: str) -> Iterator[Argument]:
    texts = [source, f"str({source})"]
    yield from (
        Argument(parameter, text)
        for text in (texts if "Path" in str(parameter.annotation) else reversed(texts))
    )


def _connection(parameter: Parameter, module: str) -> Argument:
    if module == "aiosqlite":
        line = f"connection = await aiosqlite.connect({FILE})"
    else:
        line = f"connection = sqlite3.connect({FILE}, check_same_thread=False)"
    return Argument(
        parameter, "connection", (line,), (f"import {module}",), on_loop=module == "aiosqlite"
    )
