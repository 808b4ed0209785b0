"""Another process makes the same kind of server of its text."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from saverproof_faults.servers import (
    MariaDB,
    Postgres,
    Redis,
    ServerKind,
    ServerUnavailable,
)
from saverproof_faults.servers.reference import kind_of, text_of


@pytest.mark.parametrize("kind", [Redis(), Postgres(oldest=15)])
def test_another_process_makes_the_same_kind_of_its_text(kind: ServerKind) -> None:
    assert kind_of(text_of(kind)) == kind


@dataclass(frozen=True)
class OfAPath(MariaDB):
    folder: object = Path("somewhere")


def test_a_kind_that_no_text_can_hold_is_refused_in_one_line() -> None:
    @dataclass(frozen=True)
    class Hidden(Redis):
        pass

    for kind in (OfAPath(), Hidden()):
        with pytest.raises(ServerUnavailable, match="expected an object of a dataclass that a mod"):
            text_of(kind)
    with pytest.raises(ServerUnavailable, match=r"pathlib\.Path is no kind of server"):
        kind_of('["pathlib", "Path", {}]')
