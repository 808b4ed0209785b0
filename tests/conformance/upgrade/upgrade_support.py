"""Releases of a saver that are modules in folders, and a target that opens whichever is there."""

from __future__ import annotations

import runpy
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from saverproof import target

BARE = f"""
    import sys
    from importlib.util import find_spec, module_from_spec

    # Scripts are tried by a process that may have been started before a test began.
    sys.path.append({str(Path(__file__).parents[3])!r})
    for package in ("saverproof.mistakes", "tests.wrong_savers"):
        sys.modules.setdefault(package, module_from_spec(find_spec(package)))
"""
"""Packages of which only the modules that a saver needs are imported: all of them take three times
as long, in each of the ten processes that judge one update.
"""

MODULE = """
    from contextlib import closing, contextmanager
    from pathlib import Path
    from {module} import {name}

    {name}.database_class.synchronous = "OFF"

    @contextmanager
    def opened(path):
        with closing({name}(Path(path))) as saver:
            yield saver
"""

OF_A_FILE = """
    from contextlib import contextmanager
    from pathlib import Path
    from {module} import {name}

    @contextmanager
    def opened(path):
        yield {name}.at(Path(path))
"""
"""The same of a saver that has no database."""


@target(name="kept", opening="from saver_at_hand import opened\nopened(path)")
@contextmanager
def kept(workspace: Any) -> Iterator[Any]:
    """Both releases are opened by the text, and here the one that is on the path."""
    found = find_spec("saver_at_hand")
    assert found is not None
    with runpy.run_path(str(found.origin))["opened"](workspace.path) as saver:
        yield saver


def release(folder: Path, saver: Any) -> str:
    """A folder with a release of the module that opens the saver."""
    folder.mkdir(parents=True)
    (folder / "saver_at_hand.py").write_text(module_of(saver))
    return str(folder)


def module_of(saver: Any) -> str:
    """The text of the module that opens the saver."""
    text = MODULE if hasattr(saver, "database_class") else OF_A_FILE
    source = text.format(module=saver.__module__, name=saver.__name__)
    return textwrap.dedent(BARE) + textwrap.dedent(source)
