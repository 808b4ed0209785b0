"""Counts what a call of a saver passes: every place at which a layer can make it fail."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.families.atomicity.trials.first_look import BESIDE_A_DATABASE
from saverproof.families.atomicity.trials.server import ServerWrites
from saverproof_faults import Places
from saverproof_faults.syscalls import NETWORK, CallKind


@dataclass(slots=True)
class CountedPlaces:
    """The places of a block, filled in when the block ends."""

    places: Places = field(default_factory=Places)
    unseen_writes: str = ""
    """Why it is not known what a server wrote."""


@contextmanager
def counting_places(
    bench: FaultBench, workspace: str, databases: Collection[str], *, writes: bool = True
) -> Iterator[CountedPlaces]:
    """Count the places that are passed in a block.

    Paths become relative to the workspace, whose folder differs in each trial. ``databases`` are
    its files that Python's own SQLite has open. ``writes`` says whether there are tables on a
    server whose rows can be counted.

    Raises:
        AbandonedError: nobody waits any more for what the block does.
    """
    bench.worker.say("a run without faults")
    found = CountedPlaces()
    before = 0 if bench.disk is None else bench.disk.total
    with (
        bench.counting_writes() if writes else nullcontext(ServerWrites()) as written,
        bench.counting_held() as held,
        bench.injector.counting() as counting,
    ):
        yield found
    io_calls = () if bench.disk is None else bench.disk.calls_since(before)
    places = replace(counting.places, io_calls=io_calls)
    # If another layer knows more about a file, its places fail there only, so none fails twice.
    above = databases if places.statements or io_calls else ()
    on_files = [call for call in held if call.kind not in NETWORK]
    found.places = replace(
        places,
        system_calls=tuple(call.relative_to(workspace) for call in on_files),
        failed_above=frozenset(name + end for name in above for end in BESIDE_A_DATABASE),
        sends=tuple(call for call in held if call.kind in NETWORK),
        writes=written.rows,
        write_faults=written.faults,
        fails_all=written.for_all,
    )
    found.unseen_writes = written.unseen
    bench.passed |= _sorts_of(found.places)


def state_of_files(folder: Path) -> set[tuple[str, int, int, int]]:
    """Return the state of all files below a folder: it differs if any file was changed."""
    found = set()
    for path in folder.rglob("*"):
        # A file that another thread deletes meanwhile has changed, too.
        with suppress(FileNotFoundError):
            state = path.lstat()
            found.add((str(path), state.st_ino, state.st_size, state.st_mtime_ns))
    return found


def changes_files(places: Places) -> bool:
    """Return whether some layer saw the program change files, or commit changes."""
    return bool(places.statements or places.io_calls) or any(
        call.creates or call.empties or call.kind not in (CallKind.OPEN, CallKind.READ)
        for call in places.system_calls
    )


def _sorts_of(places: Places) -> set[str]:
    """Return the sorts of faults that random programs can have at these places."""
    passed = {
        "client": bool(places.calls),
        "engine": bool(places.statements),
        "disk": bool(places.io_calls),
        "files": not all(map(places.is_failed_above, places.system_calls)),
        "network": bool(places.sends),
    }
    return {sort for sort, seen in passed.items() if seen}


def kinds_of(bench: FaultBench) -> tuple[str, ...]:
    """Return the sorts of faults that random programs can have on this bench."""
    passed = bench.passed - ({"files"} if "network" in bench.passed else set())
    return (
        *sorted(passed),
        *(["cancel"] if bench.api == "async" else []),
        *(["connection"] if bench.losing else []),
        *(["kill"] if bench.target.durable else []),
    )
