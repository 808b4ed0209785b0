"""Write the text of the files, from what was found out about a saver's class."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from saverproof.run.scaffold.requests import SaverClass, WayToOpen
from saverproof.scripts.formatting import formatted, indented

TARGET_FILE = "saverproof_target.py"
KNOWN_FILE = "saverproof_known.toml"
WORKFLOW = Path(".github", "workflows", "saverproof.yml")

TEMPLATES = Environment(
    loader=PackageLoader(__package__),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,  # Python, TOML and YAML; nothing here is HTML
)


@dataclass(frozen=True, slots=True)
class TargetOpening:
    """A way to open the saver, whether its data outlives it, and why other ways failed."""

    way: WayToOpen
    durable: bool = True
    failures: tuple[str, ...] = ()

    @property
    def works(self) -> bool:
        """True if it opens the saver, as far as was tried."""
        return not self.failures


def function_name(kind: SaverClass) -> str:
    """Return the name of the target's function: that of the class, in lower case with
    underscores.
    """
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", kind.name)
    return name.replace(".", "_").lower()


def target_text(kind: SaverClass, opening: TargetOpening, name: str, file: Path) -> str:
    """Return a module with one target; ``file`` is its path from where pytest is started."""
    way = opening.way
    manager = "asynccontextmanager" if way.runs_on_loop else "contextmanager"
    ours = [
        f"from {kind.module} import {kind.name.partition('.')[0]}",
        "from saverproof import Workspace, target",
    ]
    modules = {line for line in way.imports if "aiosqlite" not in line}
    text = TEMPLATES.get_template("target.py.j2").render(
        name=name,
        saver=f"{file}:{function_name(kind)}",
        known=KNOWN_FILE,
        standard_imports=[*sorted(modules), f"from contextlib import {manager}"],
        imports=[*sorted({*way.imports} - modules), *ours],
        durable=opening.durable,
        manager=manager,
        asynchronous=way.runs_on_loop,
        function=function_name(kind),
        failures=opening.failures,
        opening=opening_text(kind, way) if opening.works else "",
        body=list(_body(way)),
    )
    return "\n".join(formatted([text])) + "\n"


def opening_text(kind: SaverClass, way: WayToOpen) -> str:
    """Return the text by which a script opens the saver, without the target and the kit."""
    ours = f"from {kind.module} import {kind.name.partition('.')[0]}"
    if way.manager and not way.before and not way.setup:
        lines = [*way.imports, ours, way.expression]
    else:
        manager = "asynccontextmanager" if way.runs_on_loop else "contextmanager"
        head = "async def" if way.runs_on_loop else "def"
        lines = [
            "import contextlib",
            *way.imports,
            ours,
            f"@contextlib.{manager}",
            f"{head} open_saver(path):",
            *indented(_body(way)),
            "open_saver(path)",
        ]
    text = "\n".join(lines)
    text = text.replace('str(workspace.path / "checkpoints.db")', 'path + "/checkpoints.db"')
    text = text.replace('workspace.path / "checkpoints.db"', 'path + "/checkpoints.db"')
    return text.replace("str(workspace.path)", "path").replace("workspace.path", "path")


def known_text(name: str, folder: Path) -> str:
    """Return a known-violations file without entries."""
    template = TEMPLATES.get_template("known.toml.j2")
    return template.render(name=name, path=folder / KNOWN_FILE)


def workflow_text(kind: SaverClass, folder: Path, project: Path) -> str:
    """Return a GitHub workflow that judges the project's saver."""
    own = (project / "pyproject.toml").is_file()
    return TEMPLATES.get_template("workflow.yml.j2").render(
        saver=f"{folder / TARGET_FILE}:{function_name(kind)}",
        requirement="." if own else kind.distribution or "YOUR-PACKAGE",
        requirements_file="pyproject.toml" if own else "",
    )


def texts(
    kind: SaverClass, opening: TargetOpening, name: str, folder: Path, project: Path
) -> Mapping[Path, str]:
    """Return the text of every file to write, by its path in the project."""
    return {
        folder / TARGET_FILE: target_text(kind, opening, name, folder / TARGET_FILE),
        folder / KNOWN_FILE: known_text(name, folder),
        WORKFLOW: workflow_text(kind, folder, project),
    }


def _body(way: WayToOpen) -> Iterator[str]:
    yield from way.before
    closings = [way.closing] if way.closing else []
    if way.before:
        closings.append(f"{'await ' if way.runs_on_loop else ''}connection.close()")
    if way.manager:
        opening = "async with" if way.manager == "async" else "with"
        inner = [f"{opening} {way.expression} as saver:", *indented(_used(way))]
    else:
        yield f"saver = {way.expression}"
        inner = list(_used(way))
    if not closings:
        yield from inner
        return
    yield "try:"
    yield from indented(inner)
    yield "finally:"
    yield from indented(closings)


def _used(way: WayToOpen) -> list[str]:
    return [*([way.setup] if way.setup else []), "yield saver"]
