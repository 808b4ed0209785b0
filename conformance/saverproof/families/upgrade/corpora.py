"""Lets the installed release write a corpus, and judges it on the corpus of an older release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from saverproof.errors import CorpusError
from saverproof.families.upgrade.corpus_folder import Corpus, KeptProgram, Origin
from saverproof.families.upgrade.handovers import ComparedFacts, not_opened
from saverproof.families.upgrade.openings import NO_OPENING, store_opening
from saverproof.families.upgrade.release_process import ReleaseGone, ReleaseProcess, ReleaseRaised
from saverproof.families.upgrade.trials import (
    ALL_NEW,
    Alone,
    Playing,
    ProgramFacts,
    ReleaseBench,
    Which,
    refusal_of,
)
from saverproof.programs.steps.definitions import Program
from saverproof.savers.facts import Facts
from saverproof.savers.targets.target import Target
from saverproof.savers.workspace import Workspace

ONLY_FILES = "only savers in files are kept so far"
_MOST_SHOWN = 1_000_000
"""The most characters that a program may show: programs that store megabytes would be most of a
corpus.
"""


def written(target: Target, facts: Facts, folder: Path, programs: Sequence[Program]) -> Corpus:
    """Return the corpus that the installed release writes when it stores these programs.

    A program is left out if the release refuses a step of it, or if it shows too much. The stores
    are made in ``folder``.

    Raises:
        CorpusError: there is nothing that could be kept.
    """
    origin = origin_of(facts)
    if target.keeps_elsewhere or facts.get("on_server") or not facts["durable"]:
        kept = "in memory" if not facts["durable"] else "outside of its folder"
        raise CorpusError(f"{target.name} keeps its data {kept}: {ONLY_FILES}")
    with _bench(target, folder, origin.release, facts["apis"][0]) as bench:
        (tried,) = bench.shown(ALL_NEW, programs)
        taken = [one for one, shown in zip(programs, tried, strict=True) if _is_to_be_kept(shown)]
        with bench.store() as at:
            playing = bench.play(ALL_NEW, taken, at)
            files = _files(at.path)
            shown = bench.read(Which.NEW, playing, at)
        if not files or not taken:
            raise CorpusError(f"{target.name} wrote no file to its folder: {ONLY_FILES}")
        with bench.store() as at:
            _unpack(files, at)
            if bench.read(Which.NEW, playing, at) != shown:
                raise CorpusError(
                    f"{target.name}: found other data in a copy of its files, expected the same"
                )
    programs_kept = tuple(
        KeptProgram(one.program, one.name, one.versions, of_it)
        for one, of_it in zip(playing, shown, strict=True)
    )
    return Corpus(origin, programs_kept, files)


def _is_to_be_kept(shown: ProgramFacts) -> bool:
    return not refusal_of(shown) and sum(map(len, shown.values())) <= _MOST_SHOWN


def judged(target: Target, facts: Facts, folder: Path, corpus: Corpus, api: str) -> ComparedFacts:
    """Judge what the installed release shows of a copy of the corpus.

    It must be what the release that wrote the corpus showed, or what the installed release shows of
    a store of its own.

    Raises:
        CorpusError: the corpus cannot be judged.
    """
    with _bench(target, folder, origin_of(facts).release, api) as bench:
        programs = [one.program for one in corpus.programs]
        alone = Alone.beside(bench, programs, [one.shown for one in corpus.programs])
        if not alone.programs:
            raise CorpusError(f"{target.name} refuses a step of every program: {alone.refusal}")
        playing = [
            Playing(one.program, one.name, versions=dict(one.versions))
            for one in corpus.programs
            if one.program in alone.programs
        ]
        with bench.store() as at:
            _unpack(corpus.files, at)
            try:
                shown = bench.read(Which.NEW, playing, at)
            except ReleaseRaised as refusal:
                return not_opened(alone, refusal, Which.NEW)
    return ComparedFacts(sum(map(len, shown)), tuple(alone.odd(Which.NEW, shown)))


def origin_of(facts: Facts) -> Origin:
    """Return the origin that a corpus of the installed release names.

    Raises:
        CorpusError: the saver belongs to no distribution.
    """
    name, release = facts["distribution"], facts["version"]
    if name is None or release is None:
        raise CorpusError(f"{facts['name']}: is of no installed distribution, so has no releases")
    return Origin(facts["name"], name, release, facts["packages"]["langgraph-checkpoint"])


def check_origin(corpus: Corpus, facts: Facts, folder: Path) -> None:
    """Refuse a corpus that another saver wrote.

    Raises:
        CorpusError: the corpus is of another saver or distribution.
    """
    own, found = origin_of(facts), corpus.origin
    if (found.saver, found.distribution) != (own.saver, own.distribution):
        raise CorpusError(
            f"{folder}: is of {found.saver} ({found.distribution}), "
            f"expected {own.saver} ({own.distribution})"
        )


@contextmanager
def _bench(target: Target, folder: Path, release: str, api: str) -> Iterator[ReleaseBench]:
    """Start a process with the installed release alone.

    Raises:
        CorpusError: the saver cannot be opened without the kit, or gives no answer.
    """
    opening = store_opening(target)
    if opening is None:
        raise CorpusError(f"{target.name}: {NO_OPENING}")
    try:
        with ReleaseProcess(release, "", api) as process:
            yield ReleaseBench(target, folder, opening, {Which.NEW: process})
    except (ReleaseGone, ReleaseRaised) as trouble:
        raise CorpusError(f"{target.name}: {trouble}") from None


def _files(folder: Path) -> dict[str, bytes]:
    """Return the files of a store that nobody has open at the moment."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def _unpack(files: Mapping[str, bytes], at: Workspace) -> None:
    for name, data in files.items():
        place = at.path / name
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.touch(0o600)
        place.write_bytes(data)
