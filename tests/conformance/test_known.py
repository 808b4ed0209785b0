"""Known violations: reading the file, which violations an entry covers, and when it is stale."""

from pathlib import Path
from typing import Any

import pytest

from saverproof.errors import KnownFileError
from saverproof.run.known.entries import Entry, entry_for
from saverproof.run.known.reading import read_known
from saverproof.run.known.staleness import stale
from saverproof_reports import artefact, write_artefact

WHOLE = """
[[known]]
id = "filter/equality"
reason = "numbers are compared as text"
link = "https://example.org/issues/1"
versions = "<3.2"
api = "async"
example = "examples/filter.json"

[[known]]
id = "ordering/pages-tile"
reason = "pages overlap"
"""


ARTEFACT: dict[str, Any] = {
    "contract": "filter/equality",
    "saver": "toy",
    "target": "toys:toy",
    "versions": {},
    "api": "async",
    "phase": "functional",
    "seed": 0,
    "program": [],
}


def pinned(folder: Path, **fields: Any) -> Path:
    """An artefact where WHOLE has its example."""
    path = folder / "examples" / "filter.json"
    path.parent.mkdir()
    write_artefact(artefact(**{**ARTEFACT, **fields}), path)
    return path


def written(folder: Path, text: str) -> Path:
    path = folder / "known.toml"
    path.write_text(text)
    return path


def entry(**fields: Any) -> Entry:
    nothing = dict.fromkeys(("link", "versions", "api", "example"))
    return Entry(**{**nothing, "id": "filter/equality", "reason": "r", "file": "f", **fields})


def test_the_entries_come_as_they_are_written(tmp_path: Path) -> None:
    example = pinned(tmp_path)
    first, second = read_known(written(tmp_path, WHOLE))
    assert first.example == str(example)
    assert (first.example_saver, first.example_api) == ("toy", "async")
    assert (first.api, first.versions) == ("async", "<3.2")
    assert second.reason == "pages overlap"
    assert (second.link, second.versions, second.api, second.example) == (None,) * 4


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[[known", "is not TOML: TOMLDecodeError"),
        ("known = 3", "known is not a list, expected tables"),
        ("[[kown]]", "found 'kown', expected only tables"),
        ("known = [3]", "entry 1 is an int, expected a table"),
        ('[[known]]\nid = "filter/equality"', "entry 1: reason is missing"),
        ('[[known]]\nreason = "x"', "entry 1: id is missing"),
        (
            '[[known]]\nid = "filter/equalty"\nreason = "x"',
            "entry 1: no contract 'filter/equalty'; nearest: filter/equality",
        ),
        ('[[known]]\nid = "filter/none"\nreason = ""', "entry 1: reason is '', expected text"),
        ('[[known]]\nid = 3\nreason = "x"', "entry 1: id is 3, expected text"),
        ('[[known]]\nid = "filter/none"\nwhy = "x"', "entry 1: found 'why', expected one of"),
        (
            '[[known]]\nid = "filter/none"\nreason = "x"\napi = "both"',
            "entry 1: api is 'both', expected sync, async, crossed",
        ),
        (
            '[[known]]\nid = "filter/none"\nreason = "x"\nversions = "3.x"',
            "entry 1: versions is '3.x', expected a specifier",
        ),
    ],
)
def test_a_broken_file_is_told_in_one_line(tmp_path: Path, text: str, line: str) -> None:
    with pytest.raises(KnownFileError) as caught:
        read_known(written(tmp_path, text))
    assert line in caught.value.message
    assert caught.value.message.startswith(str(tmp_path / "known.toml"))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (None, "example: .*filter.json: cannot be read: No such file"),
        ({"contract": "filter/none"}, "example shows filter/none, expected filter/equality"),
        ({"api": "sync"}, "example shows sync, expected async"),
    ],
)
def test_an_example_has_to_show_what_its_entry_says(
    tmp_path: Path, fields: dict[str, Any] | None, said: str
) -> None:
    if fields is not None:
        pinned(tmp_path, **fields)
    with pytest.raises(KnownFileError, match=f"entry 1: {said}"):
        read_known(written(tmp_path, WHOLE))


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.mkdir()])
def test_a_file_that_is_none_is_told(tmp_path: Path, make: Any) -> None:
    path = tmp_path / "known.toml"
    make(path)
    with pytest.raises(KnownFileError, match="cannot be read"):
        read_known(path)


def test_a_file_that_is_not_text_is_told(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(KnownFileError, match="is not UTF-8 at byte 0"):
        read_known(path)


@pytest.mark.parametrize(
    ("versions", "version", "holds"),
    [
        (None, "3.1.2", True),
        ("<3.2", "3.1.2", True),
        ("<3.2", "3.2.0", False),
        ("<3.2", "3.2.0rc1", False),
        ("==3.1.2", None, True),
    ],
)
def test_an_entry_is_about_some_versions(
    versions: str | None, version: str | None, holds: bool
) -> None:
    assert entry(versions=versions).holds_for(version) is holds


def test_an_entry_covers_its_contract_and_api() -> None:
    entries = [entry(api="sync"), entry(id="filter/none")]
    assert entry_for(entries, "filter/equality", "sync") is entries[0]
    assert entry_for(entries, "filter/equality", "async") is None
    assert entry_for(entries, "filter/none", "async") is entries[1]


def contract(verdict: str, broken: tuple[str, ...] = (), **checked: int) -> dict[str, Any]:
    violations = [{"api": api} for api in broken]
    return {
        "id": "filter/equality",
        "verdict": verdict,
        "violations": violations,
        "checked": checked,
    }


@pytest.mark.parametrize(
    ("fields", "judged", "is_stale"),
    [
        ({}, contract("held", sync=3), True),
        ({}, contract("known", ("sync",), sync=3), False),
        ({"api": "async"}, contract("known", ("sync",), sync=3, **{"async": 3}), True),
        ({"api": "async"}, contract("held", sync=3), False),
        ({}, contract("not-exercised", sync=0), False),
        ({}, contract("not-applicable", sync=0), False),
        ({}, contract("unknown", sync=3), False),
        ({"example": "x.json", "example_saver": "toy"}, contract("held", sync=3), False),
        ({"example": "x.json", "example_saver": "other"}, contract("held", sync=3), True),
    ],
)
def test_an_entry_is_stale_when_its_contract_was_judged_and_held(
    fields: dict[str, Any], judged: dict[str, Any], is_stale: bool
) -> None:
    found = list(stale([entry(**fields)], [judged], "default", "toy"))
    assert [one.fails for one in found] == ([False] if is_stale else [])


def test_what_hangs_on_timing_is_never_certain() -> None:
    name = "concurrency/threads-lose-nothing"
    held = {**contract("held", sync=3), "id": name}
    (found,) = stale([entry(id=name)], [held], "deep", "toy")
    assert not found.fails


def test_only_the_deep_profile_is_certain() -> None:
    (found,) = stale([entry()], [contract("held", sync=3)], "deep", "toy")
    assert found.fails
    assert "remove the entry" in found.line
