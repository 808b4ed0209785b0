"""``saverproof corpus``: what a release has written, kept for the releases after it."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from saverproof.contracts.tables.upgrade import READS_OLD_DATA
from saverproof.errors import CorpusError
from saverproof.families.machines.suiting import able_of
from saverproof.families.upgrade.corpora import check_origin, judged, written
from saverproof.families.upgrade.corpus_folder import Corpus, read_corpus, write_corpus
from saverproof.families.upgrade.handovers import ComparedFacts
from saverproof.families.upgrade.programs import programs_of
from saverproof.process.environment import Setting
from saverproof.process.scratch import scratch_folder
from saverproof.process.servers import Servers
from saverproof.run.cli._console import told, working
from saverproof.savers.facts import Facts
from saverproof.savers.targets.finding import find
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.probing import probe
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.target import Target
from saverproof_reports.text import harmless, one_line

_UNUSABLE = 4
"""The exit status for a corpus that says nothing of the saver, as pytest has it for options."""
_MOST_TOLD = 5
_WIDTH = 300
"""The most differences of one corpus that are reported, and the most characters of each text."""


@click.group(name="corpus", short_help="Keep what a release writes, and read it later.")
def command() -> None:
    """Keep what a release of a saver writes, and judge later releases by it, without a network."""


@command.command(name="write", short_help="Keep what the installed release of SAVER writes.")
@click.argument("saver")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="a new folder (default: corpus/SAVER-RELEASE)",
)
def write(saver: str, output: Path | None) -> None:
    """Have the installed release of SAVER write a store, and keep its files.

    SAVER is what pytest --saver takes; it must be of an installed distribution, and keep its data
    in files. Beside them lie the programs, what each shows, and a manifest with the hashes.

    \b
    exit status 0  it was written
    exit status 2  SAVER cannot be found or opened
    exit status 4  it cannot be kept, or FOLDER is there already
    """
    with _unusable(), scratch_folder() as scratch:
        target, facts = _opened(saver)
        with working("writing"):
            programs = programs_of("quick", able_of(facts, target))
            corpus = written(target, facts, scratch, programs)
        folder = output or Path("corpus", f"{corpus.origin.saver}-{corpus.origin.release}")
        write_corpus(folder, corpus)
    told(f"{_named(corpus)}: {len(corpus.programs)} of {len(programs)} programs in {folder}")


@command.command(name="read", short_help="Judge SAVER by what older releases wrote.")
@click.argument("saver")
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
def read(saver: str, folders: Sequence[Path]) -> None:
    """Judge whether the installed release of SAVER reads what is kept in FOLDERS.

    Each store is copied, opened and read through each API of the saver: contract
    upgrade/reads-old-data. The saver itself decodes what is stored, by its own serializer, so read
    only what you trust as you trust your database.

    \b
    exit status 0  all of it is whole
    exit status 1  something is shown otherwise
    exit status 2  SAVER cannot be found or opened
    exit status 4  no corpus, a damaged one, one of a newer format, or one of another saver
    """
    with _unusable(), scratch_folder() as scratch:
        corpora = [(folder, read_corpus(folder)) for folder in folders]
        target, facts = _opened(saver)
        for folder, corpus in corpora:
            check_origin(corpus, facts, folder)
        whole = True
        for folder, corpus in corpora:
            for api in facts["apis"]:
                with working(f"reading {one_line(str(folder), 80)}, {api}"):
                    seen = judged(target, facts, scratch, corpus, api)
                _tell(f"{_named(corpus)}, read by {facts['version']}, {api}", seen)
                whole = whole and not seen.odd
    if not whole:
        sys.exit(1)


def _opened(saver: str) -> tuple[Target, Facts]:
    """Return the target, and the facts that the probe finds."""
    setting = Setting.current()
    setting.apply()
    ref = find(saver, Path(setting.folder))
    with Servers() as servers, working(f"probing {one_line(saver, 80)}"):
        facts = probe(ref, setting, servers)
    return load(TargetRef.from_json(facts["ref"])), facts


def _named(corpus: Corpus) -> str:
    return one_line(f"{corpus.origin.saver} ({corpus.origin.distribution} {corpus.origin.release})")


def _tell(what: str, seen: ComparedFacts) -> None:
    if not seen.odd:
        told(f"whole   {what}: {seen.facts} facts", colour="green")
        return
    told(
        f"FAILED  {what}: {READS_OLD_DATA.id}: {len(seen.odd)} facts are shown otherwise",
        colour="red",
    )
    for odd in sorted(seen.odd, key=lambda one: len(one.program))[:_MOST_TOLD]:
        told(f"        {harmless(one_line(odd.fact, _WIDTH))}")
        told(f"          expected  {harmless(one_line(' or '.join(odd.expected), _WIDTH))}")
        told(f"          found     {harmless(one_line(odd.observed, _WIDTH))}")
    if (more := len(seen.odd) - _MOST_TOLD) > 0:
        told(f"        and {more} more")


class _Unusable(click.ClickException):
    exit_code = _UNUSABLE


@contextmanager
def _unusable() -> Iterator[None]:
    """End with the right exit status if a corpus cannot be used."""
    try:
        yield
    except CorpusError as error:
        raise _Unusable(error.message) from None
