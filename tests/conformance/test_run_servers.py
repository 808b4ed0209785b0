"""DSNs of users that no target of the run can use."""

import pytest

from saverproof.errors import SaverproofError
from saverproof.process.servers import Servers


def test_a_dsn_without_a_scheme_is_not_repeated() -> None:
    servers = Servers(["host=db password=secret"])
    with pytest.raises(SaverproofError, match=r"expected a URL such as postgresql://") as told:
        servers.check_all_used()
    assert "secret" not in str(told.value)


def test_a_dsn_of_another_server_is_told_by_its_scheme_alone() -> None:
    servers = Servers(["mongodb://me:secret@db"])
    with pytest.raises(SaverproofError, match=r"mongodb://\.\.\.: no target") as told:
        servers.check_all_used()
    assert "secret" not in str(told.value)
