"""The command-line options, and the checks of them that need no target."""

from typing import Any

import pytest

from saverproof.run.project.choices import APIS, PROFILES, duration, seconds

SUITE_OPTIONS: dict[str, Any] = {
    "saver_profile": "default",
    "saver_api": "both",
    "saver_families": None,
    "saver_contracts": None,
    "saver_contracts_version": None,
    "saver_report": None,
    "saver_known": None,
    "saver_baseline": None,
    "saver_budget": None,
    "saver_strict": False,
    "saver_lenient": False,
    "saver_in_process": False,
    "saver_dsn": [],
    "saver_upgrade_from": [],
    "saver_watchdog": 10.0,
}
"""The options that mean nothing without ``--saver``, and their defaults."""


def add(parser: pytest.Parser) -> None:
    """Add every option of the kit to pytest's parser."""
    group = parser.getgroup("saverproof", "judging LangGraph checkpointers (saverproof)")
    _add_selection(group)
    _add_effort(group)
    _add_results(group)
    _add_processes(group)


def _add_selection(group: pytest.OptionGroup) -> None:
    """Add the options that say what is judged."""
    group.addoption(
        "--saver",
        action="append",
        default=[],
        metavar="X",
        help="judge this saver: a name (saverproof list shows them), module:attribute, or "
        "path/to/file.py:attribute; repeatable. Without files on the command line only the "
        "packaged suite runs, and addopts of the ini file are ignored.",
    )
    group.addoption(
        "--saver-api",
        choices=APIS,
        default=SUITE_OPTIONS["saver_api"],
        help="which API to drive: sync, async or both (default: both where both exist)",
    )
    group.addoption(
        "--saver-families",
        metavar="A,B",
        help="judge only these families of contracts; functional stands for all that "
        "need no faults, kills, concurrent callers or graphs",
    )
    group.addoption(
        "--saver-contracts",
        metavar="A/B,C/D",
        help="judge and report only these contracts; their families are judged as a whole",
    )

    group.addoption(
        "--saver-contracts-version",
        metavar="YEAR.MONTH",
        help="pin the contracts of a release of saverproof, such as 2026.11: newer ones, and those "
        "that were advice then, are reported as advice and fail nothing",
    )
    group.addoption(
        "--saver-upgrade-from",
        action="append",
        default=[],
        metavar="RELEASE",
        help="also judge what the saver makes of stores of this older release: "
        "DISTRIBUTION==VERSION, or previous, previous-major or all of those before the installed "
        "one, or langgraph==VERSION for an older LangGraph with all that it needs; installed by "
        "pip into a folder of its own, and kept (repeatable)",
    )


def _add_effort(group: pytest.OptionGroup) -> None:
    """Add the options that say how long to search."""
    group.addoption(
        "--saver-profile",
        choices=PROFILES,
        default=SUITE_OPTIONS["saver_profile"],
        help="how long to search: quick, default or deep",
    )
    group.addoption(
        "--saver-budget",
        type=duration,
        metavar="TIME",
        help="how long the run may take (90s, 10m, 2h): what there is no time for is left out, "
        "except for a minimum, and the report names it (default: a few minutes for slow savers, "
        "depending on the profile; none for others)",
    )


def _add_results(group: pytest.OptionGroup) -> None:
    """Add the options that say what becomes of the results."""
    group.addoption(
        "--saver-report",
        metavar="DIR",
        help="write report.json, report.html, report.md and reproducers to this folder (default: "
        ".saverproof, and only when something was violated)",
    )
    group.addoption(
        "--saver-known",
        metavar="FILE",
        help="known violations (TOML): reported, but they fail nothing (default: those of released "
        "savers that the kit knows; shipped: the same, an error where it knows none; none: none of "
        "these)",
    )
    group.addoption(
        "--saver-baseline",
        metavar="FILE",
        help="an earlier report.json: fail only on what got worse, and say what got better",
    )
    group.addoption(
        "--saver-strict",
        action="store_true",
        help="also fail if a must could not be judged (unknown, or not exercised) through any API; "
        "for CI",
    )
    group.addoption(
        "--saver-lenient",
        action="store_true",
        help="do not fail because of wrong answers that could not be settled, that is, of which it "
        "is not certain which contract they break; they are told all the same",
    )


def _add_processes(group: pytest.OptionGroup) -> None:
    """Add the options that say where savers and their servers run."""
    group.addoption(
        "--saver-in-process",
        action="store_true",
        help="judge in pytest's own process, for debuggers: a saver that hangs or crashes takes "
        "pytest with it",
    )
    group.addoption(
        "--saver-dsn",
        action="append",
        default=[],
        metavar="URL",
        help="use this server instead of starting a private one; stores get databases of their own "
        "in it, which are removed afterwards (repeatable; or by environment variable, such as "
        "SAVERPROOF_POSTGRES_DSN)",
    )
    group.addoption(
        "--saver-watchdog",
        type=seconds,
        default=SUITE_OPTIONS["saver_watchdog"],
        metavar="SECONDS",
        help="how long a call may stay unanswered while nothing moves before the saver counts as "
        "hung; one that is at work is cut off after six times as long (default: 10)",
    )


def given(namespace: Any) -> bool:
    """Return whether ``--saver`` was given."""
    return bool(getattr(namespace, "saver", None))


def refuse_without_saver(config: pytest.Config) -> None:
    """Refuse options that mean nothing without ``--saver``.

    Raises:
        pytest.UsageError: one of them was given.
    """
    for name, default in SUITE_OPTIONS.items():
        if config.getoption(name, default) != default:
            option = "--" + name.replace("_", "-")
            raise pytest.UsageError(f"{option}: found no --saver, expected one beside it")


def workers(config: pytest.Config) -> int:
    """Return the number of processes that judge at the same time."""
    if getattr(config.option, "dist", "no") == "no":
        return 1
    return max(1, len(getattr(config.option, "tx", None) or []))
