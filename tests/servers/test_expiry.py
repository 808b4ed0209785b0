"""Keys of a real Redis expire: their time is shortened, and nobody waits for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
from langgraph_checkpoint_plainredis import RedisSaver

from saverproof import Expiry, Redis, Target, Workspace, target
from saverproof.families.expiry.family import FAMILY
from saverproof.families.items import Outcome
from saverproof.families.tally import Tally
from saverproof_faults.servers import RedisServer, serving
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, plan_of
from tests.servers.redis_saver import RedisReference, open_saver

HOUR = 3_600
WHOLE = "expiry/whole-or-not-at-all"
STAY = "expiry/used-threads-stay"

_WHY_NOT = RedisServer.missing()
pytestmark = pytest.mark.skipif(_WHY_NOT is not None, reason=str(_WHY_NOT))


def pass_time(workspace: Workspace, seconds: float) -> None:
    """Shorten the time that is left of each key; a key of which none is left is removed."""
    with closing(redis.Redis.from_url(workspace.dsn)) as client:
        for key in client.scan_iter():
            left: Any = client.pttl(key)
            if left >= 0:
                client.pexpire(key, int(left - 1_000 * seconds))


class OneKeyExpires(RedisReference):
    """All of a store is one key, whose time each change begins anew."""

    def change(self, call: Any) -> Any:
        answer = super().change(call)
        for key in self.client.scan_iter():
            self.client.expire(key, HOUR)
        return answer


@contextmanager
def plainredis(workspace: Workspace) -> Iterator[Any]:
    with closing(RedisSaver(url=workspace.dsn, ttl=HOUR)) as saver:
        yield saver


@contextmanager
def one_key(workspace: Workspace) -> Iterator[Any]:
    with open_saver(OneKeyExpires, workspace.dsn) as saver:
        yield saver


def judged(opener: Any, folder: Path) -> Outcome:
    expiry = Expiry(seconds=HOUR, pass_time=pass_time)
    found: Target = target(name="expiring", server=Redis(), expiry=expiry)(opener)
    facts = facts_from(EVERY_OPERATION, expires=True)
    tally = Tally(plan_of(found, "expiry", "sync", folder, facts=facts))
    with serving(Redis()):
        FAMILY.judge(tally.plan, found, tally)
    return tally.outcome()


def test_what_shares_a_key_expires_as_a_whole(tmp_path: Path) -> None:
    outcome = judged(one_key, tmp_path)
    assert not outcome.findings
    assert outcome.checked.keys() == {WHOLE, STAY}


def test_plainredis_loses_what_stays_unchanged_and_threads_that_wait(tmp_path: Path) -> None:
    found = {one.contract: one for one in judged(plainredis, tmp_path).findings}
    assert found.keys() == {WHOLE, STAY}
    assert "messages" in found[WHOLE].summary
    assert any("put_writes" in step for step in found[STAY].steps)
