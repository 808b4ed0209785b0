"""Finds out whether a saver keeps prepared statements where each transaction gets another session.

Such a saver works for a while, and then any of its calls may raise. The author is told so at once:
if the saver were judged, it would break as many contracts as there are calls.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

from saverproof.errors import TargetError, describe
from saverproof.savers.facts import METHODS
from saverproof.savers.targets.probe_calls import CHANNEL, VALUE, Prober, config, put_arguments

HINT = (
    "behind a pooler each transaction may get another session; expected that nothing is prepared "
    "(psycopg: prepare_threshold=None)"
)
_PREPARED = frozenset({"26000", "42P05"})
"""PostgreSQL's SQLSTATEs for a session that lacks a prepared statement, or has another client's of
the same name.
"""
TIMES = 32
"""How often each call is made: psycopg prepares a statement when a connection has executed it five
times (``prepare_threshold``), within a transaction the next one fails, and pools of up to four
connections take turns: that makes 28.
"""


def is_of_a_prepared_statement(error: BaseException) -> bool:
    """Return whether an error is about a prepared statement that the session does not have."""
    seen: BaseException | None = error
    while seen is not None:
        # psycopg and asyncpg say "sqlstate", psycopg2 "pgcode".
        if {getattr(seen, name, None) for name in ("sqlstate", "pgcode")} & _PREPARED:
            return True
        # A saver may raise an error of its own instead.
        seen = seen.__cause__ or seen.__context__
    return False


def require_nothing_prepared(prober: Prober, apis: Sequence[str], name: str) -> None:
    """Repeat the usual calls of the target ``name``.

    Other errors of these calls are left to the contracts.

    Raises:
        TargetError: a call raised because its session lacks a prepared statement.
    """
    for api in apis:
        thread = f"probe-pooled-{api}"
        for operation, arguments in _calls(prober, thread):
            for time in range(1, TIMES + 1):
                try:
                    prober.call(api, operation, *arguments())
                except Exception as error:
                    if is_of_a_prepared_statement(error):
                        raise TargetError(
                            f"target {name!r}: call {time} of {METHODS[api][operation]} raised "
                            f"{describe(error)}: {HINT}"
                        ) from error
                    break


def _calls(prober: Prober, thread: str) -> list[tuple[str, Callable[[], tuple[Any, ...]]]]:
    """Return operations, each with what makes its arguments."""
    written = put_arguments(prober.saver, thread)
    address = config(thread, written[1]["id"])

    def one_more_put() -> tuple[Any, ...]:
        return put_arguments(prober.saver, thread, written[1]["id"])

    return [
        ("put", one_more_put),
        ("put_writes", lambda: (address, [(CHANNEL, VALUE)], str(uuid.uuid4()))),
        ("get_tuple", lambda: (config(thread),)),
        ("list", lambda: (config(thread),)),
        ("delete_thread", lambda: (thread,)),
    ]
