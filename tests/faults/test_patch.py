"""Every name by which a module has ``sqlite3.connect`` is replaced, whenever the module got it."""

from __future__ import annotations

import sqlite3
import sys
from types import ModuleType

import pytest

from saverproof_faults.sqlite import patch, raw


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module without the function, in which it was looked for before."""
    module = ModuleType("opens_databases")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    patch.install()()
    return module


def is_replaced(module: ModuleType) -> bool:
    """Whether the function that a module has is replaced, and put back in the end."""
    undo = patch.install()
    try:
        return bool(module.connect is patch.connect)
    finally:
        undo()
        assert module.connect is sqlite3.connect is raw.connect


def test_a_name_that_a_module_has_got_since_is_replaced(module: ModuleType) -> None:
    module.connect = sqlite3.connect  # type: ignore[attr-defined]
    assert is_replaced(module)


def test_a_name_in_a_module_that_took_the_place_of_another_is_replaced(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    successor = ModuleType(module.__name__)
    successor.connect = sqlite3.connect  # type: ignore[attr-defined]
    module.connect = None  # type: ignore[attr-defined]
    patch.install()()
    monkeypatch.setitem(sys.modules, module.__name__, successor)
    assert is_replaced(successor)


def test_a_name_is_replaced_again_where_it_was_before(module: ModuleType) -> None:
    module.connect = sqlite3.connect  # type: ignore[attr-defined]
    first = patch.install()
    # Meanwhile no module has the function itself.
    patch.install()()
    first()
    assert is_replaced(module)
