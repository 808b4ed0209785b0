"""Which distribution a saver's class is of, among all that are installed."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

from saverproof.savers.targets.distribution import distribution_of


def a_class(module: str) -> type:
    importlib.import_module(module)
    return type("Saver", (), {"__module__": module})


@pytest.mark.parametrize(
    ("module", "name"),
    [
        # A module of a package that several distributions have parts of.
        ("langgraph.checkpoint.memory", "langgraph-checkpoint"),
        ("langgraph.checkpoint.sqlite.aio", "langgraph-checkpoint-sqlite"),
        # A package itself, a module without a package, and a compiled one.
        ("pytest", "pytest"),
        ("typing_extensions", "typing_extensions"),
        ("ormsgpack.ormsgpack", "ormsgpack"),
        # One that is edited where it is.
        ("saverproof_savers.saver", "saverproof"),
    ],
)
def test_it_is_the_one_that_has_the_module(module: str, name: str) -> None:
    found = distribution_of(a_class(module))
    assert found is not None
    assert found.name == name


def test_the_standard_library_is_of_none() -> None:
    assert distribution_of(a_class(json.__name__)) is None


def test_a_module_of_the_project_with_an_installed_name_is_of_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "their_saver.py").write_text("")
    installed = tmp_path / "elsewhere" / "their_saver-1.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: their-saver\nVersion: 1\n")
    (installed / "RECORD").write_text("their_saver.py,,\n")
    (installed.parent / "their_saver.py").write_text("")
    for folder in (installed.parent, tmp_path):
        monkeypatch.syspath_prepend(str(folder))
    assert distribution_of(a_class("their_saver")) is None
