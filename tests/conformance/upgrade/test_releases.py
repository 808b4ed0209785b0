"""Older releases are found by pip, kept whole or not at all, and refused in one line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.conformance.upgrade.releases_support import NOWHERE, facts, wheel

from saverproof.errors import ReleaseError
from saverproof.run.plugin.upgrading import with_older_releases
from saverproof.savers.releases.installed import cache_folder, installed, kept
from saverproof.savers.releases.requested import Requested, chosen_of, requested

pytestmark = pytest.mark.usefixtures("index")


def test_a_release_is_kept_with_what_it_needs_and_the_environment_has_not(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(index, "shelf", "1.0", "Requires-Dist: plank <2", "Requires-Dist: pytest >=7")
    wheel(index, "plank", "1.5")
    wheel(index, "plank", "2.0")
    release = installed("shelf", "1.0")
    folder = Path(release.folder)
    assert "1.0" in (folder / "shelf.py").read_text()
    assert "1.5" in (folder / "plank.py").read_text()
    assert not (folder / "pytest").exists()
    assert [path for path in cache_folder().iterdir() if path != folder] == []
    assert cache_folder().stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.rglob("*"))
    # From now on no index is needed.
    monkeypatch.delenv("PIP_FIND_LINKS")
    assert installed("Shelf", "1.0").folder == release.folder


def test_a_release_that_lacks_something_is_not_kept(index: Path) -> None:
    wheel(index, "shelf", "1.0", "Requires-Dist: plank <2")
    with pytest.raises(ReleaseError, match=r"^shelf==1\.0, plank<2: .*no such release$"):
        installed("shelf", "1.0")
    assert [*cache_folder().iterdir()] == []
    assert kept("shelf", "1.0") is None


def test_a_release_that_the_index_has_not_is_told_with_those_it_has(index: Path) -> None:
    wheel(index, "shelf", "1.0")
    expected = "shelf==3.0: the index of pip has no such release; it has 1.0"
    with pytest.raises(ReleaseError, match=f"^{re.escape(expected)}$"):
        installed("shelf", "3.0")


def test_a_release_for_another_python_is_told_as_such(index: Path) -> None:
    wheel(index, "shelf", "1.0", "Requires-Python: <3.5")
    with pytest.raises(ReleaseError, match=r"^shelf==1\.0: needs Python <3\.5, found 3\."):
        installed("shelf", "1.0")
    assert [*cache_folder().iterdir()] == []


def test_an_index_that_does_not_answer_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", NOWHERE)
    with pytest.raises(ReleaseError, match=r"^shelf==1\.0: the index of pip cannot be reached"):
        installed("shelf", "1.0")
    assert [*cache_folder().iterdir()] == []


def test_a_cache_that_cannot_be_written_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    with pytest.raises(ReleaseError, match=r"^shelf==1\.0: cannot be kept in "):
        installed("shelf", "1.0")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("previous", Requested("previous")),
        ("My_Saver==1.0.4", Requested("1.0.4", "my-saver")),
        ("langgraph==0.6", Requested("0.6.*", "langgraph")),
        ("langgraph==0.6.*", Requested("0.6.*", "langgraph")),
        ("LangGraph==0.6.0", Requested("0.6.0", "langgraph")),
        ("langgraph==1.0a2", Requested("1.0a2", "langgraph")),
    ],
)
def test_an_older_release_is_asked_for_by_name_or_version(text: str, expected: Requested) -> None:
    assert requested(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "newest",
        "a>=1",
        "a==1,==2",
        "a==1.*",
        "a[b]==1",
        "a==1;python_version>'3'",
        "a",
        "langgraph==x.*",
    ],
)
def test_what_names_no_release_is_refused(text: str) -> None:
    with pytest.raises(ReleaseError, match=re.escape(f"found {text!r}, expected ")):
        requested(text)


def test_names_stand_for_releases_before_the_installed_one() -> None:
    available = ["3.1.2", "3.1.1", "3.0.0", "2.9", "1.0"]
    assert chosen_of("previous", available, "3.1.1") == ["3.0.0"]
    assert chosen_of("previous-major", available, "3.1.1") == ["2.9"]
    assert chosen_of("all", available, "3.1.1") == ["3.0.0", "2.9", "1.0"]
    with pytest.raises(ReleaseError, match=r"no release before 1\.0$"):
        chosen_of("previous", available, "1.0")


def test_savers_get_the_releases_of_their_distribution(index: Path) -> None:
    wheel(index, "shelf", "1.0")
    wheel(index, "shelf", "2.0")
    found, other = with_older_releases([facts(), facts("other")], ["shelf==1.0"])
    assert [one["version"] for one in found["upgrade_from"]] == ["1.0"]
    assert "upgrade_from" not in other
    (by_name,) = with_older_releases([facts()], ["previous", "shelf==1.0"])
    assert by_name["upgrade_from"] == found["upgrade_from"]


def test_releases_that_are_of_no_saver_are_refused() -> None:
    assert with_older_releases([facts(None)], []) == (facts(None),)
    for given, text, expected in (
        (
            [facts()],
            "plank==1.0",
            "found plank==1.0, expected a release of langgraph, or of what is judged: shelf",
        ),
        (
            [facts(None)],
            "shelf==1.0",
            "found shelf==1.0, expected a release of langgraph, or of what is judged: no ",
        ),
        (
            [facts(), facts(None)],
            "previous",
            "found previous, but no distribution is installed for kept; ",
        ),
        (
            [facts() | {"durable": False}],
            "langgraph==0.6",
            "found langgraph==0.6, but what kept stores is gone with its process; ",
        ),
    ):
        with pytest.raises(ReleaseError, match=f"^--saver-upgrade-from: {re.escape(expected)}"):
            with_older_releases(given, [text])
