"""What docs/servers.md shows works."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tests.docs.snippets import blocks

from saverproof import Postgres, ServerKind, Workspace
from saverproof_faults.servers import Need

SHOWN, OWN_KIND = (one.code for one in blocks("python") if one.page == "servers.md")


class MySaver:
    @staticmethod
    @contextmanager
    def from_conn_string(dsn: str) -> Iterator[Any]:
        yield SimpleNamespace(setup=lambda: None, dsn=dsn)


def test_the_target_is_one_with_a_server(tmp_path: Path) -> None:
    names: dict[str, Any] = {"MySaver": MySaver}
    exec(SHOWN, names)
    target = names["my_saver"]
    assert target.server == Postgres()
    with target(Workspace(tmp_path, "abc", "postgresql://there/abc")) as saver:
        assert saver.dsn == "postgresql://there/abc"


def test_a_kind_of_ones_own_can_be_handed_to_another_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module: Any = ModuleType("own_kind")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    module.MyPlaces = SimpleNamespace
    module.connect = nullcontext
    exec(OWN_KIND, module.__dict__)
    kind = module.Cockroach()
    assert isinstance(kind, ServerKind)
    assert Need.of(kind).variable == "SAVERPROOF_COCKROACH_DSN"
