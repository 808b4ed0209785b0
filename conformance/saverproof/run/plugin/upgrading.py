"""Install the older releases that ``--saver-upgrade-from`` asks for, before savers are judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from saverproof.errors import ReleaseError
from saverproof.savers.facts import Facts
from saverproof.savers.releases import pip
from saverproof.savers.releases.installed import Release, installed
from saverproof.savers.releases.requested import Requested, chosen_of, requested
from saverproof.savers.releases.with_langgraph import installed_with_langgraph

_OPTION = "--saver-upgrade-from"


def with_older_releases(savers: Sequence[Facts], texts: Sequence[str]) -> tuple[Facts, ...]:
    """Return the savers' facts, with the older releases of each that were asked for.

    Raises:
        ReleaseError: a release is of none of these savers, or cannot be installed, or none of them
            keeps anything for LangGraph's.
    """
    try:
        asked = {text: requested(text) for text in dict.fromkeys(texts)}
        for text, one in asked.items():
            _check_is_of_one(text, one, savers)
        return tuple(_with_releases(facts, asked.values()) for facts in savers)
    except ReleaseError as error:
        raise ReleaseError(f"{_OPTION}: {error}") from None


def _check_is_of_one(text: str, asked: Requested, savers: Iterable[Facts]) -> None:
    without = [facts["name"] for facts in savers if facts["distribution"] is None]
    if asked.is_by_name and without:
        raise ReleaseError(
            f"found {text}, but no distribution is installed for {', '.join(without)}; "
            "expected DISTRIBUTION==VERSION"
        )
    if asked.is_of_langgraph and not any(facts["durable"] for facts in savers):
        names = ", ".join(facts["name"] for facts in savers)
        raise ReleaseError(
            f"found {text}, but what {names} stores is gone with its process; "
            "expected a durable saver"
        )
    there = sorted({str(facts["distribution"]) for facts in savers if facts["distribution"]})
    if not asked.is_of_langgraph and not any(map(asked.is_of, there)):
        known = ", ".join(there) or "no installed distribution"
        raise ReleaseError(
            f"found {text}, expected a release of langgraph, or of what is judged: {known}"
        )


def _with_releases(facts: Facts, asked: Iterable[Requested]) -> Facts:
    found = {str(release): asdict(release) for one in asked for release in _releases(one, facts)}
    return facts if not found else {**facts, "upgrade_from": list(found.values())}


def _releases(asked: Requested, facts: Facts) -> list[Release]:
    distribution, version = facts["distribution"], facts["version"]
    if asked.is_of_langgraph:
        # What only memory holds is gone before another release could see it.
        is_judged = facts["durable"]
        return [installed_with_langgraph(asked.version, distribution or "")] if is_judged else []
    if distribution is None or version is None or not asked.is_of(distribution):
        return []
    if not asked.is_by_name:
        return [installed(distribution, asked.version)]
    available = pip.available(distribution)
    try:
        chosen = chosen_of(asked.version, available, version)
    except ReleaseError as error:
        raise ReleaseError(f"{distribution}: {error}") from None
    return [installed(distribution, version) for version in chosen]
