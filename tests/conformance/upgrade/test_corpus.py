"""What a release has written is kept, and the releases after it are judged by it."""

from __future__ import annotations

import json
import shutil
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.conformance.judging_support import EVERY_OPERATION, facts_from
from tests.conformance.upgrade.upgrade_support import kept, release
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.upgrades import Later, OldMetadataForgotten

from saverproof import target
from saverproof.errors import CorpusError
from saverproof.families.upgrade.corpora import check_origin, judged, written
from saverproof.families.upgrade.corpus_folder import MANIFEST, read_corpus, write_corpus
from saverproof.programs.small import EARLY_WRITES, LATE_WRITES, TWO_WRITES
from saverproof.run.cli import main
from saverproof.savers.targets.target import Target
from saverproof_faults.servers import Postgres
from saverproof_savers.schema import MIGRATIONS
from saverproof_savers.targets import sqlite

PROGRAMS = (TWO_WRITES, LATE_WRITES, EARLY_WRITES)
BUNDLED = Path(__file__).parents[2] / "corpus"


def facts_of(name: str, distribution: str | None, version: str, **more: Any) -> Any:
    """What the probe would find of a saver."""
    named = {"name": name, "distribution": distribution, "version": version, "apis": ["sync"]}
    return facts_from(EVERY_OPERATION) | named | more


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the plain saver wrote, as release 1.0."""
    with monkeypatch.context() as patched:
        patched.syspath_prepend(release(tmp_path / "1.0", SqliteReference))
        found = written(kept, facts_of("kept", "plain", "1.0"), tmp_path / "stores", PROGRAMS)
    write_corpus(tmp_path / "corpus", found)
    return tmp_path / "corpus"


def test_the_bundled_saver_reads_what_each_of_its_schemas_wrote(tmp_path: Path) -> None:
    folders = [BUNDLED / f"sqlite-schema-{number}" for number in range(2, len(MIGRATIONS) + 1)]
    assert folders == sorted(BUNDLED.iterdir()), "saverproof corpus write sqlite -o tests/corpus/…"
    for folder in folders:
        found, facts = read_corpus(folder), facts_of("sqlite", "saverproof", "today")
        check_origin(found, facts, folder)
        seen = judged(sqlite, facts, tmp_path, found, "sync")
        assert not seen.odd
        assert seen.facts > 1_000


@pytest.mark.parametrize(
    ("saver", "is_right"), [(Later, True), (SqliteReference, True), (OldMetadataForgotten, False)]
)
def test_a_release_is_judged_by_what_one_before_it_wrote(
    saver: Any, is_right: bool, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(corpus)
    monkeypatch.syspath_prepend(release(tmp_path / "2.0", saver))
    facts = facts_of("kept", "plain", "2.0")
    seen = judged(kept, facts, tmp_path / "stores", read_corpus(corpus), "sync")
    assert content(corpus) == before
    assert seen.facts > 0
    assert bool(seen.odd) is not is_right
    assert all("metadata" in odd.fact for odd in seen.odd)


def test_a_release_that_cannot_open_the_store_does_not_read_it(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = read_corpus(corpus)
    files = dict.fromkeys(found.files, b"no database" * 1_000)
    broken = replace(found, files=files)
    monkeypatch.syspath_prepend(release(tmp_path / "2.0", Later))
    facts = facts_of("kept", "plain", "2.0")
    (odd, *_) = judged(kept, facts, tmp_path / "stores", broken, "sync").odd
    assert "file is not a database" in odd.observed


def test_a_corpus_is_whole_and_for_its_owner_alone(corpus: Path) -> None:
    assert stat.S_IMODE(corpus.stat().st_mode) == 0o700
    for path in corpus.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    with pytest.raises(CorpusError, match=r"is there already, expected a new folder$"):
        write_corpus(corpus, read_corpus(corpus))
    assert [path.name for path in corpus.parent.iterdir() if path.name.startswith(".")] == []
    manifest = json.loads((corpus / MANIFEST).read_text())
    assert (manifest["format"], manifest["release"]) == (1, "1.0")


@pytest.mark.parametrize(
    ("saver", "facts", "said"),
    [
        (
            target(name="far", server=Postgres())(kept.open),
            {},
            "outside of its folder: only savers",
        ),
        (kept, {"on_server": True}, "outside of its folder: only savers"),
        (kept, {"durable": False}, "in memory: only savers in files are kept so far$"),
        (kept, {"distribution": None}, "is of no installed distribution"),
        (target(name="here")(kept.open), {}, r"expected target\(opening=\.\.\.\)"),
    ],
)
def test_a_saver_that_cannot_be_kept_is_refused(
    saver: Target, facts: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(CorpusError, match=said):
        written(saver, facts_of("kept", "plain", "1.0") | facts, tmp_path, PROGRAMS)


def test_a_corpus_of_another_saver_is_refused(corpus: Path) -> None:
    found = read_corpus(corpus)
    check_origin(found, facts_of("kept", "plain", "3.0"), corpus)
    for name, distribution in (("kept", "other"), ("other", "plain")):
        with pytest.raises(CorpusError, match=rf"is of kept \(plain\), expected {name} \("):
            check_origin(found, facts_of(name, distribution, "3.0"), corpus)


def read(folder: Path) -> Result:
    """The end of the command, on a corpus that says nothing of a saver."""
    return CliRunner().invoke(main, ["corpus", "read", "sqlite", str(folder)])


def edited(folder: Path, at: Path, **changes: Any) -> Path:
    """A copy of a bundled corpus with another manifest."""
    shutil.copytree(folder, at)
    manifest = json.loads((at / MANIFEST).read_text())
    (at / MANIFEST).write_text(json.dumps(manifest | changes))
    return at


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": 2}, "format 2, expected at most 1: a newer saverproof wrote it"),
        ({"format": "1"}, "damaged: manifest.json: expected format 1, saver, distribution"),
        ({"release": None}, "damaged: manifest.json: expected format 1"),
        ({"sha256": {}}, "damaged: manifest.json: expected format 1"),
        ({"sha256": {"programs.json.xz": "00"}}, "damaged: programs.json.xz: sha256 is "),
        ({"sha256": {"programs.json.xz": "", "store/../../x.xz": ""}}, "damaged: manifest.json"),
        ({"sha256": {"programs.json.xz": "", "/etc/passwd": ""}}, "damaged: manifest.json"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_told_in_one_line(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    result = read(edited(BUNDLED / "sqlite-schema-2", tmp_path / "c", **changes))
    assert result.exit_code == 4
    (line,) = result.output.splitlines()
    assert said in line


def test_a_folder_that_is_no_whole_corpus_is_told_in_one_line(tmp_path: Path) -> None:
    said = {"no corpus: expected a folder with manifest.json": read(tmp_path / "none")}
    damaged = edited(BUNDLED / "sqlite-schema-2", tmp_path / "damaged")
    store = damaged / "store" / "checkpoints.db.xz"
    store.write_bytes(store.read_bytes()[:-1])
    said["damaged: store/checkpoints.db.xz: sha256 is "] = read(damaged)
    store.unlink()
    said["damaged: store/checkpoints.db.xz: FileNotFoundError"] = read(damaged)
    (damaged / MANIFEST).write_text("{")
    said["damaged: manifest.json: JSONDecodeError"] = read(damaged)
    for text, result in said.items():
        assert result.exit_code == 4
        (line,) = result.output.splitlines()
        assert text in line
