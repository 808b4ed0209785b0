"""A run of pytest, or of the command line, in a fork of a process that has imported it all."""

from __future__ import annotations

import importlib
import io
import json
import os
import sys
from pathlib import Path

SLOW_PLUGINS = ("-p", "no:langsmith_plugin", "-p", "no:hypothesispytest")
"""What takes seconds to import."""
SAID = "said"
"""The file, beside the order, that has what the run wrote."""


def run(order: str) -> None:
    """Be the run of an order: the main function of a module, in a folder and an environment."""
    asked = json.loads(Path(order).read_text("utf-8"))
    said = os.open(SAID, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number in (1, 2):
        os.dup2(said, number)
    for stream in (sys.stdout, sys.stderr):
        assert isinstance(stream, io.TextIOWrapper)
        stream.reconfigure(write_through=True)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:1] = filter(None, [*asked["path"], *path])
    module, _, function = asked["main"].partition(":")
    sys.argv = [module, *asked["arguments"]]
    sys.exit(getattr(importlib.import_module(module), function)())
