"""An older LangGraph comes with all that it needs, and with a saver that goes with it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.upgrade.releases_support import NOWHERE, facts, wheel

from saverproof.errors import ReleaseError
from saverproof.run.plugin.upgrading import with_older_releases
from saverproof.savers.releases.installed import Release, cache_folder
from saverproof.savers.releases.with_langgraph import (
    installed_with_langgraph,
    kept_with_langgraph,
)


@pytest.fixture(autouse=True)
def here(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Metadata of an installed saver, and releases of LangGraph in the index."""
    for version in ("0.6.2", "0.6.11"):
        wheel(index, "langgraph", version, "Requires-Dist: langgraph-checkpoint <4")
    wheel(index, "langgraph", "0.7.0", "Requires-Dist: langgraph-checkpoint >=4")
    wheel(index, "langgraph_checkpoint", "3.0")
    wheel(index, "langgraph_checkpoint", "4.0")
    wheel(index, "shelf", "1.0", "Requires-Dist: langgraph-checkpoint <4")
    wheel(index, "shelf", "2.0", "Requires-Dist: langgraph-checkpoint >=4")
    about = tmp_path / "site" / "shelf-2.0.dist-info"
    about.mkdir(parents=True)
    lines = ("Metadata-Version: 2.1", "Name: shelf", "Version: 2.0")
    (about / "METADATA").write_text("\n".join((*lines, "Requires-Dist: langgraph >=0.6.5")))
    monkeypatch.syspath_prepend(about.parent)
    return about


def develop(here: Path) -> None:
    """Let the saver be installed from a folder."""
    (here / "direct_url.json").write_text(json.dumps({"url": "file:///shelf", "dir_info": {}}))


def there(release: Release) -> set[str]:
    """The distributions in a release's folder."""
    return {path.name.removesuffix(".dist-info") for path in Path(release.folder).glob("*-info")}


def test_a_series_brings_its_newest_release_and_the_saver_that_goes_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    release = installed_with_langgraph("0.6.*", "Shelf")
    assert str(release) == "langgraph 0.6.11 with shelf 1.0"
    assert there(release) == {"langgraph-0.6.11", "langgraph_checkpoint-3.0", "shelf-1.0"}
    assert [*cache_folder().iterdir()] == [Path(release.folder)]
    assert all(path.stat().st_mode & 0o077 == 0 for path in Path(release.folder).rglob("*"))
    # A whole version needs no index from now on.
    monkeypatch.delenv("PIP_FIND_LINKS")
    assert installed_with_langgraph("0.6.11", "shelf") == release


def test_a_saver_under_development_is_played_itself(here: Path) -> None:
    develop(here)
    release = installed_with_langgraph("0.6.11", "shelf")
    assert str(release) == "langgraph 0.6.11"
    assert there(release) == {"langgraph-0.6.11", "langgraph_checkpoint-3.0"}
    assert kept_with_langgraph("0.6.11", "shelf") == release
    (here / "METADATA").write_text("Name: shelf\nVersion: 2.0\nRequires-Dist: langgraph >=0.7\n")
    assert kept_with_langgraph("0.6.11", "shelf") is None


def test_a_saver_without_a_distribution_is_played_itself() -> None:
    release = installed_with_langgraph("0.6.*", "")
    assert release == kept_with_langgraph("0.6.11", "")
    assert there(release) == {"langgraph-0.6.11", "langgraph_checkpoint-3.0"}


def refused(version: str) -> str:
    """The line that says why there is no such LangGraph; nothing is left of the attempt."""
    with pytest.raises(ReleaseError) as caught:
        installed_with_langgraph(version, "shelf")
    assert not cache_folder().exists() or [*cache_folder().iterdir()] == []
    return str(caught.value)


def test_what_does_not_go_together_is_told(here: Path) -> None:
    develop(here)
    said = refused("0.6.2")
    assert said.startswith("langgraph==0.6.2, langgraph>=0.6.5: the index of pip has no releases ")
    assert "that go together: " in said


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("0.5.*", "the index of pip has no such release; it has 0.6.2, 0.6.11, 0.7.0"),
        ("0.6.3", "the index of pip has no such release; it has 0.6.2, 0.6.11, 0.7.0"),
    ],
)
def test_a_langgraph_that_the_index_has_not_is_told(version: str, said: str) -> None:
    assert refused(version) == f"langgraph=={version}, shelf: {said}"


def test_a_langgraph_for_another_python_is_told(index: Path) -> None:
    wheel(index, "langgraph", "0.5.3", "Requires-Python: <3.5")
    assert re.match(r"langgraph==0\.5\.3, shelf: needs Python <3\.5, found 3\.", refused("0.5.3"))


def test_an_index_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", NOWHERE)
    for version in ("0.5.*", "0.5.3"):
        assert "the index of pip cannot be reached" in refused(version)


def test_each_saver_that_lasts_gets_the_older_langgraph() -> None:
    passing: Any = facts() | {"durable": False}
    found, of_file, of_memory = with_older_releases(
        [facts(), facts(None), passing], ["langgraph==0.6", "langgraph==0.6.11"]
    )
    (release,) = found["upgrade_from"]
    assert (release["langgraph"], release["version"]) == ("0.6.11", "1.0")
    (alone,) = of_file["upgrade_from"]
    assert (alone["langgraph"], alone["distribution"]) == ("0.6.11", "")
    assert "upgrade_from" not in of_memory
