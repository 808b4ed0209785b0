"""The import lines of a script: those that its code needs, in isort's order."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable

USUAL = """
import _sqlite3
import asyncio
import contextlib
import copy
import ctypes
import faulthandler
import functools
import gc
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command, StateSnapshot, StateUpdate
from saverproof.families.durability.kills.kill_points import changes
from saverproof_faults.io import Extent, Failure, IoAction, IoFault, IoWatch, Recorder
from saverproof_faults.syscalls import CallFailure, CallFault, CallKind, CallRecorder, CallWatch
from saverproof_faults.power import PowerCuts, failed_at, materialize
"""
"""Imports that the makers' own lines may use. A script gets those that it uses."""

Groups = dict[str, set[str]]
"""Module -> the names imported from it; "" stands for the module itself."""


def import_lines(code: str, more: Iterable[str] = (), always: Iterable[str] = ()) -> list[str]:
    """Return the import lines of ``code``, with the standard library first.

    They are those of the usual ones and of ``more`` that the code uses, and all of ``always``.
    """
    groups = _groups([*USUAL.split("\n"), *more], _used(code))
    for module, names in _groups(always, None).items():
        groups.setdefault(module, set()).update(names)
    standard = {module for module in groups if _root(module) in sys.stdlib_module_names}
    sections = [
        _sorted({module: groups[module] for module in modules})
        for modules in (standard, groups.keys() - standard)
    ]
    return [*sections[0], *([""] if all(sections) else []), *sections[1]]


def _root(name: str) -> str:
    return name.partition(".")[0]


def _used(code: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}


def _groups(lines: Iterable[str], used: set[str] | None) -> Groups:
    """Return the imports by module; if ``used`` is given, only those of names in it."""
    groups: Groups = {}
    for node in ast.parse("\n".join(lines)).body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for alias in node.names:
            if used is not None and _root(alias.asname or alias.name) not in used:
                continue
            text = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
            if isinstance(node, ast.ImportFrom):
                groups.setdefault(str(node.module), set()).add(text)
            else:
                groups.setdefault(text, set()).add("")
    return groups


def _sorted(groups: Groups) -> list[str]:
    plain = [f"import {module}" for module in sorted(groups) if "" in groups[module]]
    named = [
        f"from {module} import {', '.join(sorted(names))}"
        for module in sorted(groups)
        if (names := groups[module] - {""})
    ]
    return plain + named
