"""A realistic run, built as its events: several savers, with and without violations."""

from collections.abc import Iterable, Mapping
from typing import Any

from saverproof_reports import report_of

Data = dict[str, Any]

CONTRACTS = {
    "interface": ["complete"],
    "ordering": [
        "list-newest-first",
        "latest-is-greatest-id",
        "before-is-exclusive",
        "limit-is-a-prefix",
        "pages-tile",
        "writes-sorted",
        "?all-threads-newest-first",
    ],
    "upsert": [
        "put-is-idempotent",
        "put-replaces",
        "reput-keeps-writes",
        "regular-write-first-wins",
        "special-write-last-wins",
        "special-write-last-wins-mixed",
    ],
    "pending-writes": ["complete", "special-index", "scoped", "early-writes-kept", "late-writes"],
    "identity": ["put-returns-address", "parent", "unknown-is-none", "list-selects", "snapshots"],
    "serialization": [
        "channel-values",
        "write-values",
        "names",
        "metadata",
        "encrypted-at-rest",
        "?non-finite",
        "?large",
    ],
    "isolation": ["threads", "namespaces", "hostile-identifiers", "?private-files"],
    "filter": ["equality", "?none", "?nested"],
    "deletion": ["thread-all", "no-ghosts", "runs", "prune-latest", "copy-complete"],
    "parity": ["same-answers", "no-event-loop-hang"],
    "atomicity": [
        "all-or-nothing",
        "no-late-commit",
        "usable-after",
        "no-silent-loss",
        "cancelled",
        "previous-intact",
    ],
    "durability": [
        "acknowledged-survives",
        "in-flight-atomic",
        "no-gaps",
        "reopens",
        "resume",
        "no-rerun",
        "?power-cut",
    ],
    "concurrency": ["threads-lose-nothing", "no-torn-reads", "?iteration-does-not-block"],
    "lifecycle": ["reopen", "setup-idempotent", "any-first-operation", "?close-idempotent"],
}
"""Contract names by family; a question mark stands for level should."""

STATEMENTS = {
    "ordering/list-newest-first": "list yields each (thread, namespace) by descending "
    "checkpoint id",
    "atomicity/all-or-nothing": "an operation that raised left nothing, whoever looks",
}

PACKAGES = {
    "langgraph": "1.2.22",
    "langgraph-checkpoint": "4.3.2",
    "langgraph-checkpoint-sqlite": "3.1.2",
    "saverproof": "2026.11.0",
    "pytest": "9.2.0",
    "hypothesis": "6.170.15",
}

REPRODUCER = '''"""langgraph-sqlite breaks {contract}: {summary}."""

import sqlite3

from langgraph.checkpoint.sqlite import SqliteSaver

connection = sqlite3.connect(":memory:", check_same_thread=False)
saver = SqliteSaver(connection)
config = {{"configurable": {{"thread_id": "a", "checkpoint_ns": ""}}}}
found = [saved.config for saved in saver.list(config)]
assert found == [], f"expected nothing, found {{found}}"
'''


def contract_ids() -> list[str]:
    """Every contract id of the sample, in order."""
    return [f"{family}/{name.lstrip('?')}" for family in CONTRACTS for name in CONTRACTS[family]]


def contracts(inapplicable: Mapping[str, str] | None = None) -> list[Data]:
    """The contracts as the ``saver`` event declares them."""
    reasons = inapplicable or {}
    return [
        {
            "id": (identity := f"{family}/{name.lstrip('?')}"),
            "family": family,
            "level": "should" if name.startswith("?") else "must",
            "since": "4.3" if identity == "ordering/writes-sorted" else None,
            "statement": STATEMENTS.get(identity, f"a saver keeps {name.lstrip('?')} in {family}"),
            "source": "langgraph.checkpoint.base: BaseCheckpointSaver",
            "link": "https://github.com/langchain-ai/langgraph/tree/main/libs/checkpoint",
            "matters": f"An agent suffers where {name.lstrip('?')} is broken.",
            "fix": f"Mend {name.lstrip('?')} with `commit()`.",
            "page": f"https://saverproof.github.io/saverproof/contracts/#{family}{name.lstrip('?')}",
            "reason": reasons.get(identity) or reasons.get(family),
        }
        for family, names in CONTRACTS.items()
        for name in names
    ]


def finding(contract: str, **changes: Any) -> Data:
    """A violation as an ``item`` event carries it."""
    summary = changes.get("summary", "two rows of a failed batch of five came back")
    return {
        "contract": contract,
        "api": "sync",
        "phase": "functional",
        "summary": summary,
        "expected": "writes of task 1: nothing\nlater put: stored",
        "observed": "writes of task 1: ('messages', 'hello'), ('branch:to:b', None)\n"
        "later put: stored",
        "steps": [
            "put checkpoint 1 of thread a",
            "put_writes task 1: messages='hello', branch:to:b=None",
            "fail before row 3 of INSERT INTO writes",
            "get_tuple latest of thread a",
        ],
        "program": [{"step": "put", "checkpoint": 1, "thread": "a"}],
        "reproducer": REPRODUCER.format(contract=contract, summary=summary),
        **changes,
    }


def fault_map(outcomes: Mapping[str, str]) -> list[Data]:
    """Places of four operations, each failed once; `outcomes` gives those that are not clean."""
    places = [
        *(("client", f"{when} statement {n}") for n in (1, 2, 3) for when in ("before", "after")),
        ("client", "at commit"),
        *(("engine", f"at row {n}") for n in range(1, 6)),
        ("engine", "at commit"),
        *(("io", f"write {n}") for n in range(1, 9)),
        *(("io", f"sync {n}") for n in (1, 2)),
    ]
    return [
        {
            "operation": operation,
            "place": place,
            "kind": kind,
            "detail": "INSERT INTO writes VALUES (?, ?, ?)",
            "outcome": outcomes.get(f"{operation} {kind} {place}", "clean"),
        }
        for operation in ("put", "put_writes", "delete_thread", "copy_thread")
        for kind, place in places
    ]


def trials(lost: int = 0) -> list[Data]:
    """Kills of three operations at statements, I/O and random instants."""
    return [
        {
            "operation": operation,
            "place": f"{kind} {n}",
            "at": n,
            "kind": kind,
            "outcome": "lost" if n < lost and kind == "instant" else ("absent", "whole")[n > 4],
            "count": 3,
            "recovery_ms": [1.5 + n / 3, 2.0 + n / 2, 2.5 + (n * n) / 9],
        }
        for operation in ("put", "put_writes", "delete_thread")
        for kind in ("statement", "io", "instant")
        for n in range(1, 9)
    ]


def extra(outcomes: Mapping[str, str], lost: int = 0) -> Data:
    """The sections faults, crash and power of a swept saver."""
    places = fault_map(outcomes)
    kinds = [place["kind"] for place in places]
    return {
        "faults": {
            "points": len(places),
            "injected": len(places),
            "by_kind": {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)},
            "map": places,
        },
        "crash": {
            "trials": 216,
            "kill_points": {"statement": 72, "io": 72, "instant": 72},
            "recovery_ms": {"p50": 0, "p99": 0},
            "lost": 9 * max(0, lost - 1),
            "torn": 0,
            "trials_detail": trials(lost),
        },
        "power": {
            "images": 871,
            "lost_acknowledged_max": 4 * lost,
            "corrupt": 0,
            "torn": 0,
            "by_lost": {"0": 640, "1": 120, "2": 80, "4": 31} if lost else {"0": 871},
            "setting": "synchronous=NORMAL" if lost else "synchronous=FULL",
        },
    }


def run_event(**changes: Any) -> Data:
    """The first event of a run."""
    return {
        "event": "run",
        "environment": {
            "python": "3.11.7",
            "platform": "Linux-6.1-x86_64, SQLite 3.40.1",
            "packages": PACKAGES,
        },
        "run": {
            "profile": "default",
            "seed": 0,
            "started": "2026-11-21T22:18:04Z",
            "duration_s": 41.2,
            "workers": 2,
            "command": "pytest --saver=sqlite --saver=langgraph-sqlite --saver=memory -n 2",
            **changes,
        },
    }


def saver_events(
    name: str,
    findings: Iterable[Data] = (),
    sections: Data | None = None,
    inapplicable: Mapping[str, str] | None = None,
    apis: tuple[str, ...] = ("sync", "async"),
    **changes: Any,
) -> list[Data]:
    """The events of one saver that was judged in every family through each of `apis`."""
    found = list(findings)
    declared = contracts(inapplicable)
    items = [[family, api] for family in CONTRACTS for api in apis]
    saver = {
        "name": name,
        "class": f"{name.replace('-', '_')}.Saver",
        "distribution": "langgraph-checkpoint-sqlite",
        "version": "3.1.2",
        "target": name,
        **changes,
    }
    events: list[Data] = [
        {
            "event": "saver",
            "saver": saver,
            "target": name,
            "contracts": declared,
            "items": items,
        }
    ]
    for number, (family, api) in enumerate(items):
        names = [
            contract["id"]
            for contract in declared
            if contract["family"] == family and not contract["reason"]
        ]
        events.append(
            {
                "event": "item",
                "saver": name,
                "family": family,
                "api": api,
                "seed": 7,
                "checked": dict.fromkeys(names, 40 + 13 * number),
                "findings": [
                    one
                    for one in found
                    if one["api"] == api and one["contract"].startswith(f"{family}/")
                ],
                "unknown": {},
                "inapplicable": {},
                "operations": 4000,
                "saver_s": 0.31,
                "total_s": 0.72,
                "extra": sections or {} if [family, api] == ["durability", "sync"] else {},
            }
        )
    return events


def good_events() -> list[Data]:
    """A run over one saver in which everything held."""
    return [
        run_event(),
        *saver_events("sqlite", sections=extra({}), distribution="saverproof"),
        {"event": "end"},
    ]


BAD_PLACES = {
    "put_writes client after statement 2": "torn",
    "put_writes engine at row 3": "torn",
    "put_writes engine at row 4": "torn",
    "delete_thread client after statement 1": "torn",
    "put client at commit": "late",
    "put io sync 1": "stuck",
    "put io write 3": "held",
    "copy_thread io write 8": "lost",
    "copy_thread engine at row 1": "not-fired",
}

NO_MEMORY_ON_DISK = {
    "durability": "keeps its data in memory: there is nothing to reopen",
    "atomicity": "no database driver was seen",
    "lifecycle/reopen": "keeps its data in memory: there is nothing to reopen",
}


def violations(count: int = 20) -> list[Data]:
    """`count` findings, each of another contract, in different phases and APIs."""
    phases = {"atomicity": "fault", "durability": "crash", "concurrency": "concurrency"}
    ids = contract_ids()
    step = max(1, len(ids) // count)
    return [
        finding(
            identity,
            phase=phases.get(identity.partition("/")[0], "functional"),
            api=("sync", "async")[number % 2],
        )
        for number, identity in enumerate(ids[::step][:count])
    ]


def comparison_events() -> list[Data]:
    """One run over four savers: a good one, two with flaws, one in memory with known flaws."""
    listed = {"reason": "documented by the maintainers", "link": "https://example.org/issue/1"}
    mixed = finding(
        "upsert/special-write-last-wins-mixed",
        summary="a resumed task still shows the first interrupt",
    )
    torn = finding("atomicity/all-or-nothing", phase="fault")
    asynchronous = {**torn, "api": "async"}
    return [
        run_event(),
        *saver_events("sqlite", sections=extra({}), distribution="saverproof"),
        *saver_events(
            "langgraph-sqlite",
            [mixed, torn],
            extra(BAD_PLACES, lost=2),
            apis=("sync",),
        ),
        *saver_events("langgraph-sqlite-async", [*violations(19), asynchronous], extra(BAD_PLACES)),
        *saver_events(
            "memory",
            [{**mixed, "known": listed}],
            inapplicable=NO_MEMORY_ON_DISK,
            distribution="langgraph-checkpoint",
        ),
        {"event": "end"},
    ]


def good_report() -> Data:
    """The report of `good_events`."""
    return report_of(good_events())


def comparison_report() -> Data:
    """The report of `comparison_events`."""
    return report_of(comparison_events())
