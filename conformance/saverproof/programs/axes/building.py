"""Builds the program of a row: a short history with the row's points, and reads of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from saverproof.programs.axes import table
from saverproof.programs.axes.axis import Axis
from saverproof.programs.axes.covering import Row
from saverproof.programs.axes.removing import removal_of, run_of
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import (
    GetTuple,
    IdForm,
    ListTuples,
    Program,
    Put,
    PutHistory,
    PutWrites,
    Reopen,
    Step,
    Times,
    WalkPages,
)
from saverproof.programs.values import Value

THREAD, BESIDE, COPY, ROOT = "a", "b", "copy", ""
FIRST = 10
"""The first number of a history. Numbers below it and between the next ones stay free."""
_SUBJECT, _MANY = FIRST + 3, 98
_LATER, _DAY_S = 1_000, 86_400
"""Checkpoints are a day apart. If times are reversed, they count down from day ``_LATER``."""
_FORMS = {"None": IdForm.NONE, "empty text": IdForm.EMPTY}
_NAMESPACES = {"not there": None, "a name": "child"}


def program_of(row: Row) -> Program:
    """Return the program of a row; axes that the row does not name are at their plainest point."""
    return tuple(_RowProgram(row).steps())


class _RowProgram:
    """A program under construction. A model follows the steps, so that reads fit what is stored."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.model = Model()
        self.namespace = _NAMESPACES.get(self._point(table.NAMESPACE), ROOT) or ROOT
        self.values = 0

    def _point(self, axis: Axis) -> str:
        return self.row.get(axis.name, "")

    def _taken(self, *steps: Step) -> Iterator[Step]:
        for step in steps:
            self.model.apply(step)
            yield step

    def steps(self) -> Iterator[Step]:
        """Yield all steps of the program."""
        yield from self._begin()
        subject, newest = _SUBJECT, FIRST + 1
        if self._point(table.LENGTH) == "100":
            times = {"reversed": Times.FALLING, "equal times": Times.EQUAL}
            going = times.get(self._point(table.TIMES), Times.RISING)
            long = PutHistory(THREAD, self.namespace, subject, _MANY, newest, 7, going)
            yield from self._taken(long)
            subject += _MANY
            newest = subject - 1
        yield from self._subject(subject, newest)
        yield from self._again(subject)
        if self._point(table.READER) == "the saver opened again":
            yield Reopen()
        yield from self._questions(subject)
        if self._point(table.REMOVAL):
            yield from self._taken(*removal_of(self.row, self.model, (THREAD, BESIDE, COPY)))

    # --- what is stored ------------------------------------------------------------------------

    def _begin(self) -> Iterator[Step]:
        """Yield a root and its child, each with reads, and a checkpoint of another thread."""
        form = _FORMS.get(self._point(table.FORM), IdForm.ABSENT)
        root = Put(
            THREAD,
            self.namespace,
            FIRST,
            changes=self._channels(),
            metadata={"source": "input", "step": 0, "user": "ann"} | run_of(self.row, 0),
            id_form=form,
        )
        yield from self._taken(root)
        yield from self._questions(FIRST)
        yield from self._taken(self._child(FIRST + 1, FIRST))
        yield from self._questions(FIRST + 1)
        yield from self._taken(Put(BESIDE, self.namespace, 1, changes=_count(1)))

    def _channels(self) -> tuple[tuple[str, Value], ...]:
        if not self._point(table.CHANNELS):
            return (*_count(1), ("notes", self._value()))
        many = {"0": 0, "1": 1, "2 to 199": 10, "200": 200}[self._point(table.CHANNELS)]
        names = ("notes", *(f"channel_{number}" for number in range(many - 1)))[:many]
        return tuple(
            (name, self._value() if name == "notes" else Value("integer", number))
            for number, name in enumerate(names)
        )

    def _value(self) -> Value:
        return self._sized(self._point(table.VALUE))

    def _sized(self, size: str) -> Value:
        self.values += 1
        kinds = {
            "empty": Value("text", ""),
            "container": Value("dict", 3 * self.values),
            "64 kB": Value("medium-text", self.values),
            "1 MB": Value("large-text", 2 * self.values),
            "16 MB": Value("huge-text", self.values),
        }
        return kinds.get(size, Value("text", f"note {self.values}"))

    def _child(self, number: int, parent: int | None) -> Put:
        """Return a checkpoint that changes two channels. Its ``number`` sets its place in the order
        of ids; the row sets its time.
        """
        user = "ann" if number < _SUBJECT else "bob"
        clocks = {
            "alike": number * _DAY_S,
            "reversed": (_LATER - number) * _DAY_S,
            "equal times": FIRST,
        }
        clock = clocks.get(self._point(table.TIMES))
        changes = _count(number)
        if self._point(table.CHANNELS) != "1":
            changes = (*changes, ("notes", self._value()))
        return Put(
            THREAD,
            self.namespace,
            number,
            parent,
            changes=changes,
            metadata={"source": "loop", "step": number, "user": user} | run_of(self.row, 1),
            clock=clock,
        )

    def _subject(self, number: int, newest: int) -> Iterator[Step]:
        """Yield the checkpoint that the row is about, with the parent and the writes that the row
        names.
        """
        early = self._point(table.MOMENT) == "before its checkpoint"
        if early:
            yield from self._writes(number)
        match self._point(table.PARENT):
            case "none":
                puts = [self._child(number, None)]
            case "an older one":
                puts = [self._child(number + 1, None), self._child(number, newest)]
            case "one with a higher id":
                puts = [self._child(number + 2, None), self._child(number, number + 2)]
            case "one that has a child":
                puts = [self._child(number, FIRST)]
            case _:
                puts = [self._child(number, newest)]
        yield from self._taken(*puts)
        if self._point(table.MOMENT) == "older checkpoint":
            yield from self._taken(self._child(number + 3, number))
        if not early:
            yield from self._writes(number)

    def _writes(self, number: int) -> Iterator[Step]:
        if not (self._point(table.BATCH) or self._point(table.WRITE)):
            return
        many = {"0": 0, "1": 1}.get(self._point(table.BATCH), 3)
        size = self._point(table.WRITE)
        writes = tuple(
            ("notes", self._sized(size)) if n == many - 1 else ("count", Value("integer", n))
            for n in range(many)
        )
        yield from self._taken(PutWrites(THREAD, self.namespace, number, 1, writes))
        beside = ("notes", self._sized(size))
        yield from self._taken(PutWrites(THREAD, self.namespace, number, 2, (beside,)))

    def _again(self, number: int) -> Iterator[Step]:
        """Yield the checkpoint again, unchanged and then with other values, if the family judges
        what is stored again.
        """
        if self._point(table.MOMENT) and self._point(table.CHANNELS):
            record = self.model.record((THREAD, self.namespace, number))
            assert record is not None
            changed = tuple((name, self._value()) for name, _ in record.step.changes)
            yield from self._taken(record.step, replace(record.step, changes=changed))
            yield from self._writes(number)

    # --- what is asked -------------------------------------------------------------------------

    def _questions(self, number: int) -> Iterator[Step]:
        form = _FORMS.get(self._point(table.FORM), IdForm.ABSENT)
        unnamed = self._point(table.NAMESPACE) == "not there"
        yield GetTuple(THREAD, None if unnamed else self.namespace, None, form)
        match self._point(table.READ):
            case "by id":
                yield GetTuple(THREAD, None if unnamed else self.namespace, number)
            case "list of a namespace":
                yield ListTuples(THREAD, self.namespace, id_form=form)
            case "list of a thread":
                yield ListTuples(THREAD, id_form=form)
            case "list of an id":
                yield ListTuples(THREAD, self.namespace, number)
            case "list of everything":
                yield ListTuples(None)
            case "pages":
                yield WalkPages(THREAD, self.namespace, 30 if number > _LATER // 10 else 1)
        if self._point(table.LIMIT):
            yield self._listing(number)

    def _listing(self, number: int) -> ListTuples:
        # The limit depends on how many checkpoints the other arguments select.
        befores = {"a stored id": number, "an id never put": FIRST + 2}
        filters = {"fits some": {"user": "ann"}, "fits none": {"user": "nobody"}}
        asked = ListTuples(
            THREAD,
            self.namespace,
            before=befores.get(self._point(table.BEFORE)),
            filter=filters.get(self._point(table.FILTER)),
        )
        selected = len(self.model.listing(asked))
        limits = {"0": 0, "1": 1, "exact": selected, "more": selected + 3}
        return replace(asked, limit=limits.get(self._point(table.LIMIT)))


def _count(number: int) -> tuple[tuple[str, Value], ...]:
    return (("count", Value("integer", number)),)
