"""Finds the distribution of a class, and the versions that matter in a report."""

import json
import sys
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlparse

from saverproof.extensions import TARGETS, offered
from saverproof.savers.targets.reference import TargetRef

_OF_INTEREST = (
    "saverproof",
    "langgraph",
    "langgraph-checkpoint",
    "langchain-core",
    "pytest",
    "pytest-xdist",
    "hypothesis",
    "aiosqlite",
    "psycopg",
    "asyncpg",
    "redis",
    "pymongo",
    "mysql-connector-python",
    "pymysql",
    "sqlalchemy",
)


def distribution_of(kind: type) -> metadata.Distribution | None:
    """Return the installed distribution whose files define ``kind``; None for a script or a
    test.
    """
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if file is None:
        return None
    path = Path(file).resolve()
    installed = [*metadata.distributions()]
    listing = [one for one in installed if _may_list(one, kind.__module__)]
    for candidate in sorted(listing, key=lambda one: one.name):
        if any(Path(str(one.locate())).resolve() == path for one in candidate.files or ()):
            return candidate
    return next((one for one in installed if _is_edited(one, path)), None)


def _may_list(distribution: metadata.Distribution, module: str) -> bool:
    """Return whether a distribution may have installed a module.

    To take apart the lists of all files that were ever installed takes a third of a second.
    """
    record = distribution.read_text("RECORD")
    if record is None:
        return True
    place = module.replace(".", "/")
    return any(f"\n{place}{end}" in f"\n{record}" for end in (".", "/__init__."))


def _is_edited(distribution: metadata.Distribution, path: Path) -> bool:
    """Return whether ``path`` is in the source folder of an editable installation."""
    text = distribution.read_text("direct_url.json")
    if text is None:
        return False
    origin = json.loads(text)
    url = urlparse(str(origin.get("url", "")))
    editable = bool(origin.get("dir_info", {}).get("editable"))
    return editable and url.scheme == "file" and path.is_relative_to(unquote(url.path))


def versions(distribution: metadata.Distribution | None) -> dict[str, str]:
    """Return the versions of the installed distributions that matter, with ``distribution``'s."""
    found = {}
    for name in _OF_INTEREST:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    if distribution is not None:
        found[distribution.name] = distribution.version
    return found


def missing_extra(ref: TargetRef) -> str:
    """Return what to install for a target whose distribution has an extra of the same name."""
    point = offered(TARGETS).get(ref.saver)
    if point is None or point.dist is None:
        return ""
    extras = point.dist.metadata.get_all("Provides-Extra") or []
    fitting = [one for one in extras if ref.saver == one or ref.saver.startswith(f"{one}-")]
    return f"; pip install '{point.dist.name}[{max(fitting, key=len)}]'" if fitting else ""
