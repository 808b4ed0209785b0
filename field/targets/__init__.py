"""Targets of the field report: savers for which the kit has no ready target.

Each module opens one distribution's savers, by functions of a path or of a DSN. Scripts open a
saver by the text of its function, so that they need nothing of the kit. Therefore each function
imports what it uses.
"""

import inspect
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, TypeAlias

from saverproof import ServerKind, Target, target

Opens: TypeAlias = Callable[[str], AbstractContextManager[Any] | AbstractAsyncContextManager[Any]]


def on_path(name: str, **more: Any) -> Callable[[Opens], Target]:
    """Make a target of a function that takes the folder of its workspace, as text."""

    def made(opens: Opens) -> Target:
        decorate = target(name=name, opening=_text(opens, "path"), **more)
        return decorate(lambda workspace: opens(str(workspace.path)))

    return made


def on_server(server: ServerKind, name: str, **more: Any) -> Callable[[Opens], Target]:
    """Make a target of a function that takes the DSN of its workspace."""

    def made(opens: Opens) -> Target:
        decorate = target(name=name, server=server, opening=_text(opens, "dsn"), **more)
        return decorate(lambda workspace: opens(workspace.dsn))

    return made


def _text(opens: Opens, argument: str) -> str:
    source = inspect.getsource(opens)
    text = source[source.index("@contextlib.") :]
    return f"import contextlib\n{text}{opens.__name__}({argument})"
