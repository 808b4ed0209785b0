"""Predicts what a saver with certain mistakes shows, by running programs on such a saver."""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from saverproof.errors import SaverproofError
from saverproof.families.machines.explaining.composing import composed, refusing, without_paths
from saverproof.families.machines.explaining.differences import calls_in
from saverproof.families.machines.explaining.trials import ProgramRun, Trials
from saverproof.judging.answers import is_mapping, place
from saverproof.judging.facts import (
    WRITE_EXTRA,
    WRITE_FOREIGN,
    WRITE_MISSING,
    WRITE_TWICE,
    Difference,
    Raised,
)
from saverproof.judging.session import Breach
from saverproof.mistakes import Mistake
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import ReferenceStore
from saverproof.mistakes.registry import opener
from saverproof.programs.steps.definitions import OwnStep, Program
from saverproof.programs.values import show
from saverproof.savers.targets.target import Target
from saverproof.savers.workspace import Workspace

Signature: TypeAlias = tuple[Any, ...]
"""A difference as comparable data, without the saver's own versions and messages."""

_WIDTH = 2_000
"""Characters of a value that are compared. Two values that differ only beyond them are rare, and
each is then reported as a finding of its own.
"""
_TO_OPEN = 3
"""What it costs to open a saver and to look at it at the end, counted in steps."""
_OF_VERSIONS = frozenset({"channel_versions", "versions_seen"})
"""Fields of a checkpoint that hold versions, which each saver makes in its own way."""
_AMONG_OTHERS = frozenset({WRITE_MISSING, WRITE_EXTRA, WRITE_TWICE, WRITE_FOREIGN})
"""Facts about one write that are noted with all the writes shown."""
_MEMORY_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
"""The memory address of an object in its repr. A saver may store the repr as text, and each run
makes the object again at another address.
"""


def signature(breach: Breach) -> Signature:
    """Return a breach as comparable data, which is equal for two savers that answered alike."""
    return (breach.position, *_of_difference(breach.difference))


def signatures(run: ProgramRun) -> list[Signature]:
    """Return the signature of each breach of a run. They are kept with the run, since they are
    often needed.
    """
    if "signatures" not in run.notes:
        run.notes["signatures"] = [*map(signature, run.breaches)]
    said: list[Signature] = run.notes["signatures"]
    return said


def _of_masked(run: ProgramRun, masked: Iterable[Breach]) -> Iterator[Signature]:
    """Yield the signatures of some masked breaches of a run. They are kept with the run as well."""
    known: dict[int, Signature] = run.notes.setdefault("masked", {})
    for breach in masked:
        if id(breach) not in known:
            known[id(breach)] = signature(breach)
        yield known[id(breach)]


def _of_difference(difference: Difference) -> Signature:
    write = difference.write
    return (
        difference.fact,
        difference.kind,
        difference.address,
        difference.cause,
        None if write is None else (write.task, write.index, write.channel),
        _observed(difference),
        tuple(sorted(map(repr, map(_of_difference, difference.explains)))),
    )


def _observed(difference: Difference) -> Hashable:
    """Return what was seen, as comparable data.

    If a write is missing or extra, all writes are compared in any order. Whether their order is
    wrong is another difference.
    """
    if difference.detail in _OF_VERSIONS:
        return ""
    if difference.kind in _AMONG_OTHERS:
        return tuple(sorted(map(_said, difference.observed)))
    return _said(difference.observed)


def _said(value: Any) -> str:
    """Return a value as text. All exceptions give the same text, except that of a missing method.
    Versions in tuples and addresses in memory are left out.
    """
    if isinstance(value, Raised):
        return "not implemented" if isinstance(value.error, NotImplementedError) else "raised"
    if is_mapping(getattr(value, "checkpoint", None)):
        shown = {k: v for k, v in value.checkpoint.items() if k not in _OF_VERSIONS}
        written = [tuple(each) for each in getattr(value, "pending_writes", None) or ()]
        parts = (place(value.config), shown, value.metadata, place(value.parent_config), written)
        value = parts
    return _MEMORY_ADDRESS.sub("", show(value, _WIDTH))


@dataclass(frozen=True, slots=True)
class Compared:
    """The breaches of a run, compared with a prediction.

    Attributes:
        predicted: breaches that were predicted exactly.
        left: breaches that were not.
        missed: the number of breaches that were predicted and not seen.
    """

    predicted: tuple[Breach, ...]
    left: tuple[Breach, ...]
    missed: int
    disputed: int = 0
    """The number of missed breaches in whose place the run showed another breach of the same
    checkpoint.
    """

    @property
    def exact(self) -> bool:
        """True if the run showed exactly what was predicted."""
        return not self.left and not self.missed


def compare(run: ProgramRun, prediction: ProgramRun | None) -> Compared:
    """Compare the breaches of a run with a prediction; None predicts no breach.

    Masked breaches are compared as well, for checkpoints whose other breaches were all predicted. A
    masked breach there that was not predicted is another flaw.
    """
    if prediction is None:
        return Compared((), run.breaches, 0)
    expected = Counter(signatures(prediction))
    predicted, left = _divided(zip(run.breaches, signatures(run), strict=True), expected)
    if run.masked and predicted:
        unclear = {breach.difference.address for breach in left}
        clear = [each for each in run.masked if each.difference.address not in unclear]
        there = {each.difference.address for each in clear}
        # Signatures of large values take long: only those that can be equal are made.
        near = [each for each in prediction.masked if each.difference.address in there]
        behind, also_left = _divided(
            zip(clear, _of_masked(run, clear), strict=True), Counter(_of_masked(prediction, near))
        )
        predicted, left = [*predicted, *behind], [*left, *also_left]
    return Compared(
        tuple(predicted), tuple(left), expected.total(), _disputed(prediction, expected, left)
    )


def _disputed(prediction: ProgramRun, missed: Counter[Signature], left: Sequence[Breach]) -> int:
    """Count the missed breaches in whose place the run showed another breach."""
    places = {(breach.position, breach.difference.address) for breach in left}
    if not places or not missed.total():
        return 0
    return sum(
        missed[signed] > 0 and (breach.position, breach.difference.address) in places
        for breach, signed in zip(prediction.breaches, signatures(prediction), strict=True)
    )


def _divided(
    said: Iterable[tuple[Breach, Signature]], expected: Counter[Signature]
) -> tuple[list[Breach], list[Breach]]:
    """Divide breaches into those that are ``expected`` and the others. Each expected one is counted
    down.
    """
    predicted, left = [], []
    for breach, signed in said:
        if expected[signed] > 0:
            expected[signed] -= 1
            predicted.append(breach)
        else:
            left.append(breach)
    return predicted, left


@dataclass(slots=True)
class Predictor:
    """Runs programs on savers made of known mistakes, as the saver under test ran them.

    ``like`` are the trials of the saver under test. ``steps`` counts the steps that predictions
    took. ``next_version`` and ``prune_whole`` make versions and prune as the saver under test does,
    where the contracts leave a choice. ``without_paths`` are its methods that take no task path:
    which steps are legal depends on the paths.
    """

    like: Trials
    steps: int = 0
    next_version: Callable[[Any, Any, None], Any] | None = None
    prune_whole: Callable[[Any, str], None] | None = None
    without_paths: frozenset[str] = frozenset()
    _classes: dict[tuple[str, ...], type[ReferenceSaver] | None] = field(default_factory=dict)

    def predict(self, run: ProgramRun, mistakes: Sequence[Mistake]) -> ProgramRun | None:
        """Return what a saver with these mistakes shows in a run; each overrides those before it.

        Return None if the mistakes cannot be combined, or if the program has steps of an author's
        rules.
        """
        return self.replay(
            run.program,
            mistakes,
            thorough=run.thorough,
            watch_inputs=run.watch_inputs,
            finishes=run.finished,
            apis=run.apis,
            refusals=run.refusals,
            prefix=run.prefix,
        )

    def replay(
        self,
        program: Program,
        mistakes: Sequence[Mistake],
        apis: tuple[str, ...] = (),
        refusals: Sequence[bool] = (),
        **how: Any,
    ) -> ProgramRun | None:
        """Run a program on a saver with these mistakes; ``how`` goes to :meth:`Trials.replay`.

        ``refusals`` says which prunes and deletions for runs the saver refuses. Return None in the
        same cases as :meth:`predict`.
        """
        saver = self._composed(mistakes)
        if saver is None or any(isinstance(step, OwnStep) for step in program):
            return None
        if any(refusals):
            saver = refusing(saver, refusals)
        self.steps += calls_in(program) + _TO_OPEN
        like = self.like
        set_up = all(each.setup for each in mistakes)
        target = Target(name="mistakes", open=opener(saver, setup=set_up))
        trials = Trials(
            target,
            like.folder,
            like.loop,
            apis or like.apis,
            shallow=like.shallow,
            places=_in_memory,
        )
        try:
            return trials.replay(program, **how)
        except SaverproofError:
            # The mistake is in opening or closing, which gives no run to compare.
            return None

    def _composed(self, mistakes: Sequence[Mistake]) -> type[ReferenceSaver] | None:
        key = tuple(each.name for each in mistakes)
        if key not in self._classes:
            savers = [each.saver for each in mistakes]
            saver = composed(savers, self.next_version, self.prune_whole)
            self._classes[key] = saver and without_paths(saver, self.without_paths)
        return self._classes[key]


@contextmanager
def _in_memory(folder: Path, _: Target) -> Iterator[Workspace]:
    """Provide a workspace without a folder, since the reference saver writes no files."""
    name = f"sp_{secrets.token_hex(8)}"
    workspace = Workspace(folder / name, name)
    try:
        yield workspace
    finally:
        ReferenceStore.forget(workspace.path)
