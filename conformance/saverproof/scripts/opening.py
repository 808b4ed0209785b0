"""Source text by which a script opens the saver: the target's own, or a call of its function."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from saverproof.savers.targets.opening_text import parts_of
from saverproof.savers.targets.target import Target
from saverproof.savers.workspace import Workspace
from saverproof.scripts.formatting import indented
from saverproof_faults.scripted import dsn_for, serving
from saverproof_faults.servers.kinds import ServerKind

_SERVING = f"from {serving.__module__} import {dsn_for.__name__}, {serving.__name__}"


@dataclass(frozen=True, slots=True)
class Opening:
    """The source text that opens a saver below ``path``, a variable of the script.

    ``expression`` is a context manager, asynchronous if ``managed``. ``imports`` stand at the top
    of the script. Then ``folders`` are put on its path, at position ``folders_at``, for the imports
    that are ``local``, and the statements ``before`` follow. ``drop`` is a call that removes what
    lies outside of ``path``, which stands in it as ``{0}``. ``passing`` is a call that lets
    ``seconds`` pass for what lies below ``path``, if the saver forgets what nobody uses; both are
    variables.
    ``server`` is an expression for the kind of server that is needed.
    """

    expression: str
    managed: bool = False
    imports: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    folders_at: int = 0
    local: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    drop: str = ""
    passing: str = ""
    server: str = ""

    @property
    def keyword(self) -> str:
        """The keywords that begin the statement by which the saver is opened."""
        return "async with" if self.managed else "with"

    def opened(self, lines: Iterable[str], name: str = "saver", expression: str = "") -> list[str]:
        """Return the lines inside a block in which the saver is open, as ``name`` if they use
        it.
        """
        block = list(lines) or ["pass"]
        manager = _named(expression or self.expression, name, block)
        return _within(self.keyword, [manager], block)

    def in_folder(self, lines: Iterable[str], *more: str) -> list[str]:
        """Return the lines inside a block with a folder ``path``, which is removed at its end.

        ``more`` are context managers that are entered with it.
        """
        managers, block = list(more), list(lines)
        if self.server:
            managers.append(f"serving({self.server})")
        if self.drop:
            managers.append("contextlib.ExitStack() as cleanup")
            block = [f"cleanup.callback(lambda: {self.drop.format('path')})", *block]
        folder = _named("tempfile.TemporaryDirectory()", "path", [*managers, *block, *self.before])
        return _within("with", [folder, *managers], block)


def _named(manager: str, name: str, lines: list[str]) -> str:
    used = any(re.search(rf"\b{name}\b", line) for line in lines)
    return f"{manager} as {name}" if used else manager


def _within(keyword: str, managers: list[str], block: list[str]) -> list[str]:
    """Return a ``with`` statement. If the block is one ``with`` statement itself, both become
    one.
    """
    first, *others = block
    same = first.startswith(f"{keyword} ") and all(line.startswith(" ") for line in others)
    if same:
        managers = [*managers, first.removeprefix(f"{keyword} ").removesuffix(":")]
    return [f"{keyword} {', '.join(managers)}:", *(others if same else indented(block))]


def opening_of(target: Target) -> Opening | None:
    """Return how a script opens this target, or None if no name can import it."""
    found = None
    if target.opening is not None:
        found = _by_text(target.opening, target.server)
    elif target.ref is not None:
        found = _by_import(target)
    return found and replace(found, managed=_opens_asynchronously(target))


class _InServer(ast.NodeTransformer):
    """A transformer that replaces the name ``dsn`` in an expression by the call that returns the
    DSN.
    """

    def __init__(self, server: str) -> None:
        self._server = server

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.parse(_dsn(self._server), mode="eval").body if node.id == "dsn" else node


def _dsn(server: str) -> str:
    return f"dsn_for({server}, path)"


def _by_text(text: str, server: ServerKind | None) -> Opening | None:
    """Return the opening in a target's own text: statements, and at the end an expression."""
    try:
        statements, last = parts_of(text)
    except ValueError:
        return None
    imports = [node for node in statements if isinstance(node, ast.Import | ast.ImportFrom)]
    kind = ""
    if server is not None:
        kind = f"{type(server).__name__}()" if server == type(server)() else repr(server)
        servers = f"from {type(server).__module__} import {type(server).__name__}\n{_SERVING}"
        imports += [node for node in ast.parse(servers).body if isinstance(node, ast.ImportFrom)]
    folders = {node: _folder_of(_package(node)) for node in imports}
    return Opening(
        ast.unparse(_InServer(kind).visit(last.value) if kind else last.value),
        server=kind,
        imports=tuple(ast.unparse(node) for node in imports if folders[node] is None),
        before=tuple(
            line
            for node in statements
            if node not in imports
            for line in ast.unparse(node).splitlines()
        ),
        folders=tuple(sorted({str(folder) for folder in folders.values() if folder is not None})),
        local=tuple(ast.unparse(node) for node in imports if folders[node] is not None),
    )


def _package(node: ast.Import | ast.ImportFrom) -> str:
    name = node.names[0].name if isinstance(node, ast.Import) else str(node.module)
    return name.partition(".")[0]


def _by_import(target: Target) -> Opening | None:
    assert target.ref is not None
    first, *rest = target.ref.attribute.split(".")
    module, folder = _module(target.ref.module, target.ref.file)
    if module is None:
        return None
    function = ".".join((first, *rest))
    kind = f"{function}.server" if target.server is not None else ""
    dsn = f", {_dsn(kind)}" if kind else ""
    passing = f"{function}.expiry.pass_time(Workspace(Path(path), Path(path).name{dsn}), seconds)"
    return Opening(
        f"{function}(Workspace(Path(path), Path(path).name{dsn}))",
        server=kind,
        imports=("from pathlib import Path", *([_SERVING] if kind else [])),
        folders=(str(folder),) if folder else (),
        local=("from saverproof import Workspace", f"from {module} import {first}"),
        drop=f"{function}.drop(Workspace(Path({{0}}), Path({{0}}).name))" if target.drop else "",
        passing=passing if target.expiry else "",
    )


def _module(name: str | None, file: str | None) -> tuple[str | None, Path | None]:
    """Return the name of a target's module, and the folder that its import needs on the path.

    The name is None if no import can reach the file.
    """
    if name is not None:
        return name, _folder_of(name.partition(".")[0])
    path = Path(str(file))
    root, names = path.parent, [path.stem]
    while (root / "__init__.py").is_file():
        names.insert(0, root.name)
        root = root.parent
    importable = all(part.isidentifier() for part in names)
    taken = names[0] in sys.stdlib_module_names
    return (".".join(names), root) if importable and not taken else (None, None)


def _folder_of(package: str) -> Path | None:
    """Return the folder of a package, or None if an interpreter looks there by itself."""
    try:
        found = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    if found is None or found.origin is None or package in sys.stdlib_module_names:
        return None
    place = Path(found.origin)
    folder = place.parent.parent if place.name == "__init__.py" else place.parent
    return None if str(folder) in _known_folders() else folder


def _known_folders() -> set[str]:
    """Return the folders where any interpreter of this environment looks for modules.

    Folders of editable installs are among them.
    """
    known = {sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib", "platstdlib")}
    for folder in list(known):
        for file in Path(folder).glob("*.pth"):
            known.update(file.read_text(encoding="utf-8", errors="replace").splitlines())
    return known


def _opens_asynchronously(target: Target) -> bool:
    """Return whether the author's function returns an asynchronous context manager."""
    function = inspect.unwrap(target.open)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        return inspect.isasyncgenfunction(function)
    with tempfile.TemporaryDirectory() as folder:
        manager = type(target.open(Workspace(Path(folder), "looking")))
    return hasattr(manager, "__aenter__") and not hasattr(manager, "__enter__")
