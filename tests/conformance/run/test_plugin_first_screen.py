"""What the terminal shows of a run with many broken contracts: what to fix first, and each once."""

import re
from pathlib import Path

import pytest
from tests.conformance.plugin_support import Project, Result

RECORDED = Path(__file__).parent / "recorded" / "json_file_saver.json"
"""What ``pytest --saver=json_file_saver.py:json_file --saver-profile=quick --saver-api=sync
--saver-families=functional`` found, which takes minutes; the saver is beside it.
"""
ROOTS = [
    "ordering/list-newest-first",
    "identity/unknown-is-none",
    "upsert/special-write-last-wins",
    "serialization/channel-values",
    "serialization/config-metadata-merged",
    "pending-writes/early-writes-kept",
    "identity/list-selects",
    "serialization/write-values",
    "serialization/unserializable-is-refused",
    "upsert/reput-keeps-writes",
    "upsert/regular-write-first-wins",
]
FOLLOWING = {
    "ordering/list-newest-first": {
        "ordering/before-is-exclusive", "ordering/limit-is-a-prefix", "ordering/pages-tile",
        "ordering/all-threads-newest-first",
    },
    "identity/unknown-is-none": {
        "identity/snapshots", "isolation/namespaces", "isolation/same-id-in-namespaces",
    },
    "upsert/special-write-last-wins": {
        "ordering/writes-sorted", "upsert/special-write-last-wins-mixed",
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("json_file"))
    project.write("script.json", RECORDED.read_text())
    return project


@pytest.fixture(scope="module")
def screen(project: Project) -> Result:
    """Eighteen musts are broken, each through both APIs."""
    return project.judge("-n", "2", "--saver-families=functional", COLUMNS="120")


def test_a_run_with_eighteen_broken_musts_fits_sixty_lines(screen: Result) -> None:
    assert screen.outcomes["failed"] == 2 * 18
    assert len(screen.output.splitlines()) <= 60


def test_the_causes_come_in_the_order_in_which_to_fix_them(screen: Result) -> None:
    named: dict[str, set[str]] = {}
    root = ""
    for line in screen.output.splitlines():
        if found := re.match(r"(VIOLATED|  also breaks) (\S+)", line):
            kind, contract = found.groups()
            root = contract if kind == "VIOLATED" else root
            named.setdefault(root, set()).update({contract} - {root})
    assert list(named) == ROOTS
    assert {name: others for name, others in named.items() if others} == FOLLOWING


def test_it_starts_with_what_to_fix_first(screen: Result) -> None:
    lines = screen.output.splitlines()
    start = next(n for n, line in enumerate(lines) if "fix this first" in line)
    assert lines[start] == "fix this first, 4 others break by its cause:"
    assert lines[start + 1].startswith("VIOLATED ordering/list-newest-first (sync, async): the ord")
    assert lines[start - 2].strip("= ") == "saverproof", "nothing of pytest's own comes before it"


def test_each_contract_is_told_once_with_its_script(screen: Result) -> None:
    for contract in ROOTS:
        (line,) = [line for line in screen.output.splitlines() if f" {contract} " in line]
        if contract != ROOTS[0]:
            assert f"python .saverproof/reproducers/toy-{contract.replace('/', '-')}" in line
    assert screen.output.count("  promise ") == 1, "the details of one"
    assert screen.output.count("  matters ") == screen.output.count("  fix ") == 1
    for own in ("= FAILURES =", "short test summary", "FAILED"):
        assert own not in screen.output


def test_it_ends_with_what_to_run_next(screen: Result) -> None:
    assert "next  saverproof replay .saverproof/artefacts/toy-ordering-list-newe" in screen.output
    assert "pytest --saver=toys.py:toy --saver-families=ordering" in screen.output
    assert "pytest --saver=toys.py:toy --lf" in screen.output
    assert "pytest --saver=toys.py:toy --saver-profile=deep" in screen.output


def test_the_last_failures_are_not_proposed_where_pytest_keeps_none(project: Project) -> None:
    families = "--saver-families=ordering"
    result = project.judge("-p", "no:cacheprovider", families, "--saver-api=sync")
    assert "\nnext  saverproof replay" in result.output
    assert "--lf" not in result.output


def test_verbose_runs_show_each_cause_in_full_and_a_short_summary_on_request(
    project: Project,
) -> None:
    families = "--saver-families=identity"
    result = project.judge("-v", "-rf", families, "--saver-api=sync", COLUMNS="60")
    assert result.output.count("  promise ") == 2
    assert "also breaks identity/unknown-is-none (sync): something" in result.output
    said = "identity/unknown-is-none[toy-sync] - something is there that should not be\n"
    assert f"\nFAILED saverproof::{said}" in result.output, "not cut on a small terminal"
    assert "= FAILURES =" not in result.output
