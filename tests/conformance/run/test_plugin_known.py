"""Known violations in a run: what they excuse, and their examples, which are run first."""

from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.plugin_support import Project

from saverproof_reports import artefact, write_artefact

KNOWN = '[[known]]\nid = "filter/equality"\nreason = "numbers are text"\nlink = "https://x.y/1"\n'
PINNED = f'{KNOWN}example = "pinned.json"\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def pin(project: Project, **fields: Any) -> None:
    """Write a file whose one entry has an example, of the sync API of the saver ``toy``."""
    given: dict[str, Any] = {
        "contract": "filter/equality",
        "saver": "toy",
        "target": "toys.py:toy",
        "versions": {},
        "api": "sync",
        "phase": "functional",
        "seed": 0,
        "program": [],
        "summary": "what was seen then",
        "steps": ["put a"],
    }
    write_artefact(artefact(**{**given, **fields}), project.folder / "pinned.json")
    project.write("known.toml", PINNED)


def judge_filters(project: Project, *arguments: str) -> Any:
    return project.judge("--saver-families=filter", "--saver-known=known.toml", *arguments)


def test_a_known_violation_fails_nothing(project: Project) -> None:
    project.write("known.toml", KNOWN)
    project.script(filter={"findings": ["filter/equality"]})
    result = judge_filters(project)
    assert result.status == 0
    assert "known: filter/equality: numbers are text" in result.output


def test_a_known_violation_of_one_api_excuses_no_other(project: Project) -> None:
    project.write("known.toml", f'{KNOWN}api = "sync"\n')
    project.script(filter={"findings": ["filter/equality"]})
    assert judge_filters(project).outcomes.keys() >= {"failed", "passed"}


@pytest.mark.parametrize(("profile", "status"), [("default", 0), ("deep", 1)])
def test_a_stale_entry_fails_where_it_is_certain(
    project: Project, profile: str, status: int
) -> None:
    project.write("known.toml", KNOWN)
    result = judge_filters(project, f"--saver-profile={profile}")
    assert result.status == status
    assert "stale: " in result.output
    assert "filter/equality held" in result.output


def test_an_entry_of_a_family_that_did_not_run_is_not_stale(project: Project) -> None:
    project.write("known.toml", KNOWN)
    result = project.judge(
        "--saver-families=ordering", "--saver-known=known.toml", "--saver-profile=deep"
    )
    assert result.status == 0
    assert "stale" not in result.output


@pytest.mark.parametrize("workers", [(), ("-n", "2"), ("--saver-in-process",)], ids=str)
def test_an_example_that_is_fixed_makes_its_entry_stale(
    project: Project, workers: tuple[str, ...]
) -> None:
    pin(project)
    project.script(replay={})
    result = judge_filters(project, *workers)
    assert "its example is fixed (it shows nothing); remove the entry" in result.output
    assert result.status == 1
    assert result.outcomes["failed"] == 1
    (entry,) = result.report()["savers"][0]["stale"]
    assert (entry["id"], entry["severity"]) == ("filter/equality", "error")


def test_an_example_that_still_fails_is_known_even_if_the_search_misses_it(
    project: Project,
) -> None:
    pin(project)
    project.script(replay={"status": "still failing", "expected": "1", "observed": "2"})
    result = judge_filters(project, "--saver-report=out")
    assert result.status == 0, result.output
    contracts = {one["id"]: one for one in result.report("out")["savers"][0]["contracts"]}
    known = contracts["filter/equality"]
    assert known["verdict"] == "known"
    (violation,) = known["violations"]
    assert (violation["summary"], violation["observed"]) == ("what was seen then", "2")
    assert violation["steps"] == ["put a"]


def test_an_example_that_was_not_seen_again_is_no_stale_entry(project: Project) -> None:
    pin(project)
    project.script(replay={"status": "not seen again", "said": "not seen again in 10 tries"})
    result = judge_filters(project, "--saver-report=out")
    assert result.status == 0, result.output
    assert "its example was not seen again in 10 tries" in result.output
    (entry,) = result.report("out")["savers"][0]["stale"]
    assert entry["severity"] == "warning"


STILL = {"status": "still failing", "expected": "1", "observed": "2"}


@pytest.mark.parametrize(
    ("fields", "status", "replays"),
    [
        ({}, 1, 3),
        ({"steady": False}, 0, 3),
        ({"phase": "graph"}, 0, 10),
        ({"phase": "graph", "steady": True}, 1, 10),
        ({"phase": "crash"}, 0, 3),
    ],
    ids=["always", "by chance", "race of a graph", "graph that always fails", "kill"],
)
def test_an_entry_is_stale_only_where_that_is_certain(
    project: Project, fields: dict[str, Any], status: int, replays: int
) -> None:
    pin(project, **fields)
    project.script(replay={})
    result = judge_filters(project, "--saver-report=out", "--saver-api=sync")
    assert result.status == status
    assert (project.folder / "replays").read_text() == "." * replays
    (entry,) = result.report("out")["savers"][0]["stale"]
    assert entry["severity"] == ("error" if status else "warning")
    said = (
        "its example is fixed" if status else f"its example was not seen again in {replays} tries"
    )
    assert said in entry["message"]


def test_an_example_that_shows_its_flaw_at_last_is_known(project: Project) -> None:
    pin(project, phase="graph")
    project.script(replay={"later": [{}, {}, STILL]})
    result = judge_filters(project, "--saver-report=out")
    assert result.status == 0, result.output
    assert "stale" not in result.output
    contracts = {one["id"]: one for one in result.report("out")["savers"][0]["contracts"]}
    assert contracts["filter/equality"]["verdict"] == "known"


def test_a_race_that_cannot_be_run_this_time_is_no_stale_entry(project: Project) -> None:
    pin(project, phase="crash")
    project.script(replay={"status": "cannot run", "said": "a clean run raised KeyError"})
    result = judge_filters(project)
    assert result.status == 0, result.output
    assert "its example cannot be run: a clean run raised KeyError; pin another" in result.output


BY_CHANCE = {
    "contract": "filter/equality",
    "phase": "graph",
    "reproducer": "",
}


def test_what_a_run_found_is_known_in_the_next(project: Project) -> None:
    """Broken by chance through one API, then through the other; unsettled, unknown, and steady."""
    found = {
        "filter-sync": {"findings": [BY_CHANCE]},
        "upsert": {
            "findings": ["upsert/put-is-idempotent"],
            "unknown": {"upsert/put-replaces": "a clean run raised KeyError"},
            "unsettled": {
                "upsert/reput-keeps-writes": {
                    "times": 1, "why": "it did not show again", "steps": [], "program": None,
                },
            },
        },
    }  # fmt: skip
    project.script(**found)
    families = ("--saver-families=filter,upsert", "--saver-strict")
    assert project.judge(*families).status == 1
    drafted = project.saverproof("known", ".saverproof", "-o", "known.toml")
    assert "4 entries, 2 with an example" in drafted.output
    assert "2 of them for contracts not seen broken, but not judged" in drafted.output
    for later in (
        {"filter-async": {"findings": [BY_CHANCE]}, "upsert": found["upsert"]},
        {"upsert": {"findings": ["upsert/put-is-idempotent", "upsert/put-replaces"]}},
        found,
        {},
    ):
        project.script(**later, replay={} if later == {} else STILL)
        result = project.judge(*families, "--saver-known=known.toml")
        assert (result.status == 0) == (later != {}), result.output
    assert "upsert/put-is-idempotent (sync): its example is fixed" in result.output
    assert "filter/equality (sync): its example was not seen again in 10 tries" in result.output


def test_an_example_that_cannot_be_run_is_told(project: Project) -> None:
    pin(project)
    project.script(replay={"do": "hang"})
    result = judge_filters(project, "--saver-watchdog=1", "--saver-api=sync")
    assert result.status == 1
    assert "its example cannot be run: no answer after 1 s" in result.output
    # The judge that hung is replaced, and the item is judged all the same.
    assert "Traceback" not in result.output
    contracts = {one["id"]: one for one in result.report()["savers"][0]["contracts"]}
    assert contracts["filter/equality"]["verdict"] == "held"


def test_an_example_of_another_saver_is_left_alone(project: Project) -> None:
    pin(project, saver="other")
    project.script(replay={})
    result = judge_filters(project)
    assert result.status == 0
    assert "is the entry stale?" in result.output


def test_an_example_in_the_folder_that_the_run_replaces_is_refused(project: Project) -> None:
    pin(project)
    result = judge_filters(project, "--saver-report=.")
    assert result.status == 4
    assert "which this run replaces; expected it elsewhere" in result.errors[0]
    assert (project.folder / "pinned.json").exists()


def test_an_example_that_is_missing_ends_the_run_in_one_line(project: Project) -> None:
    project.write("known.toml", PINNED)
    result = judge_filters(project)
    assert result.status == 4
    assert "entry 1: example: " in result.errors[0]
    assert "Traceback" not in result.output


MEMORY = "langgraph.checkpoint.memory.InMemorySaver"
INSTALLED = version("langgraph-checkpoint")


def ship(project: Project, release: str = INSTALLED) -> None:
    """Give the kit a file about the class of the toys."""
    project.write(
        f"shipped/{MEMORY}.toml",
        f'releases = ["{release}"]\n\n[[known]]\nid = "filter/equality"\n'
        f'reason = "mended in 99: numbers are text"\nversions = "=={release}"\n',
    )


@pytest.mark.parametrize("option", [(), ("--saver-known=shipped",)], ids=str)
def test_what_the_kit_knows_of_a_release_fails_nothing(
    project: Project, option: tuple[str, ...]
) -> None:
    ship(project)
    project.script(filter={"findings": ["filter/equality"]})
    result = project.judge("--saver-families=filter", *option)
    assert result.status == 0, result.output
    assert f"known: toy: langgraph-checkpoint {INSTALLED} breaks 1 contract" in result.output
    assert "known: filter/equality: mended in 99: numbers are text" in result.output


def test_what_is_new_fails_beside_what_the_kit_knows(project: Project) -> None:
    ship(project)
    project.script(
        filter={"findings": ["filter/equality"]}, ordering={"findings": ["ordering/pages-tile"]}
    )
    result = project.judge("--saver-families=filter,ordering")
    assert result.status == 1
    assert "VIOLATED ordering/pages-tile" in result.output
    assert "VIOLATED filter/equality" not in result.output
    assert "known: filter/equality: mended in 99: numbers are text" in result.output


@pytest.mark.parametrize("option", ["--saver-known=none", "--saver-known=known.toml"])
def test_another_value_leaves_out_what_the_kit_knows(project: Project, option: str) -> None:
    ship(project)
    project.write("known.toml", KNOWN.replace("filter/equality", "ordering/pages-tile"))
    project.script(filter={"findings": ["filter/equality"]})
    result = project.judge("--saver-families=filter", option)
    assert result.status == 1
    assert "VIOLATED filter/equality" in result.output
    assert "kit knows" not in result.output


def test_a_file_for_another_release_excuses_nothing_and_says_so(project: Project) -> None:
    ship(project, release="1.0")
    project.script(filter={"findings": ["filter/equality"]})
    result = project.judge("--saver-families=filter")
    assert result.status == 1
    said = f"known: toy: none of langgraph-checkpoint {INSTALLED}: the kit's file is for 1.0"
    assert said in result.output
    refused = project.judge("--saver-families=filter", "--saver-known=shipped")
    assert refused.status == 4
    (error,) = refused.errors
    assert error.endswith("expected a release that the file is for: 1.0")


def test_the_author_s_reason_comes_before_that_of_the_kit(project: Project) -> None:
    ship(project)
    own = project.write("own.toml", KNOWN)
    toys = (project.folder / "toys.py").read_text()
    project.write("toys.py", toys.replace("durable=False", f"durable=False, known={str(own)!r}"))
    project.script(filter={"findings": ["filter/equality"]})
    result = project.judge("--saver-families=filter")
    assert result.status == 0, result.output
    assert "known: filter/equality: numbers are text" in result.output


def test_what_the_kit_knows_is_never_stale(project: Project) -> None:
    """Its user could not remove it."""
    ship(project)
    result = project.judge("--saver-families=filter", "--saver-profile=deep")
    assert result.status == 0, result.output
    assert "stale" not in result.output
