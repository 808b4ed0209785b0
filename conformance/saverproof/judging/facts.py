"""Facts: what judging compares, counted where saver and model agree, noted where they differ.

Facts are neutral: they say only what was compared. :mod:`saverproof.judging.attribution` alone
knows which contract makes a fact expected, and which one a difference breaks. Scenes are about one
contract each, and have facts of their own (:mod:`saverproof.judging.scenes`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Protocol

from saverproof.contracts.contract import Contract
from saverproof.errors import describe
from saverproof.programs.model.records import (
    PRUNED_AS_OLDER,
    Address,
    Circumstance,
    PendingWrite,
    Provenance,
    Record,
)
from saverproof.programs.steps.definitions import Step
from saverproof.scripts.writer import ScriptWriter


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    """One kind of fact: its name in programs and scripts, and what a report says where it differs.

    Several kinds share a name if the same check shows them. A kind without a name goes by the
    detail that differs. Kinds are compared by identity, because counting them takes much of the
    time.
    """

    name: str
    words: str = ""

    def of(self, detail: str | None) -> str:
        """Return the name of the fact with its detail after a colon."""
        if detail is None:
            return self.name
        return f"{self.name}:{detail}" if self.name else detail


HANG = "hang"
"""The name of facts about whether a call returns at all."""

# --- checkpoints and their content -------------------------------------------------------------

ABSENT = Fact("absent")
EXTRA = Fact("extra", "something is there that should not be")
MISSING = Fact("missing", "a checkpoint is missing")
UNREADABLE = Fact("unreadable", "it cannot be read any more")
UNKNOWN_RAISES = Fact("unreadable", "it cannot be read any more")
MALFORMED = Fact("malformed", "the answer is not a checkpoint")
ADDRESS = Fact("address", "the answer names a different checkpoint")
PARENT = Fact("parent", "the parent differs")
FIELD = Fact("", "field {detail!r} of the checkpoint differs")
METADATA = Fact("metadata", "metadata {detail!r} differs from what was stored")
METADATA_MERGED = Fact("metadata", "metadata {detail!r} differs from what was stored")
METADATA_BARRED = Fact("metadata", "metadata {detail!r} should not be there")
METADATA_STALE = Fact("stale", "metadata {detail!r} of an earlier put is still there")
VALUES = {
    provenance: Fact("value", "the value of channel {detail!r} differs")
    for provenance in Provenance
}
LATEST = Fact("latest", "a different checkpoint is taken for the latest")

# --- pending writes ----------------------------------------------------------------------------

WRITE = Fact("write")
WRITE_MISSING = Fact("write:missing", "a pending write is missing")
WRITE_VALUE = Fact("write:value", "the value of a pending write differs")
WRITE_EXTRA = Fact("write:extra", "a pending write is shown that should not be")
WRITE_TWICE = Fact("write:twice", "a pending write is shown twice")
WRITE_FOREIGN = Fact("write:foreign", "a pending write of another checkpoint is shown")
WRITE_ORDER = Fact("write:order", "the order of the pending writes differs")
WRITES_SCOPED = Fact("writes scoped")
EMPTY_BATCH = Fact("empty batch")

# --- calls that write --------------------------------------------------------------------------

RAISED = Fact("raised")
RETURNED = Fact("returned", "put returns the address of a different checkpoint")
VERSION = Fact("version", "a new channel version is not greater than the one before")
VERSION_RAISED = Fact("raised")
INPUT = Fact("input", "the saver changed its argument {detail!r}")

# --- reads and listings ------------------------------------------------------------------------

FORM = Fact("form", "the same question asked in another form gets a different answer")
ROOT_BY_DEFAULT = Fact("root by default")
NONE_ID = Fact("none id")
EMPTY_ID = Fact("empty id")
WITHOUT_NAMESPACE = Fact("without namespace")
LOOP_CONFIG = Fact("loop config")
SNAPSHOT = Fact("snapshot")
SELECTION = Fact("selection", "a listing selects different checkpoints than it should")
SELECTED = Fact("selection", SELECTION.words)
SELECTED_TWICE = Fact("selection", SELECTION.words)
BEFORE = Fact("before")
LISTED_ALIKE = Fact("listed alike")
LISTED_ORDER = Fact("order", "the order differs")
ORDER_OF_ALL = Fact("order", "the order differs")
LIMIT = Fact("limit", "a limited listing is not the start of the whole one")
LIMIT_RAISED = Fact("raised")
LIMIT_ZERO = Fact("limit zero")
PAGES = Fact("pages", "pages do not make up the whole listing")

# --- deleting and copying ----------------------------------------------------------------------

_PRUNED = Fact("prune")
REMOVED = {
    "delete_thread": Fact("delete_thread"),
    "delete_for_runs": Fact("delete_for_runs"),
    "prune": _PRUNED,
    PRUNED_AS_OLDER: _PRUNED,
}
"""The fact that a checkpoint is gone, by the operation that removed it."""
KEPT = Fact("kept", "older checkpoints are kept")
REBUILT = Fact("delta", "a channel that is stored as changes is rebuilt wrongly")
REBUILT_AFTER_RUNS = Fact("delta", REBUILT.words)
REFUSED_PRUNE = Fact("refused prune")
COPIES_APART = Fact("copies apart")

# --- keeping apart -----------------------------------------------------------------------------

THREADS_APART = Fact("threads apart")
NAMESPACES_APART = Fact("namespaces apart")
HOSTILE_REFUSED = Fact("hostile refused")

# --- the rest ----------------------------------------------------------------------------------

CHANNELS = Fact("channels", "the answer is about other channels than were asked about")
HISTORY = Fact("history", "the history of a channel is not what was stored")
HISTORY_RAISED = Fact("raised")
SAME_ANSWERS = Fact("", "{detail}: the two APIs give different answers")
OWN = Fact("own", "{detail} is broken")
"""The fact that an author's rule or invariant holds; the detail is its contract id."""

OF_VALUES = frozenset(VALUES.values())
OF_WRITES = frozenset(
    {WRITE_MISSING, WRITE_VALUE, WRITE_EXTRA, WRITE_TWICE, WRITE_FOREIGN, WRITE_ORDER}
)


class FilterSort(Enum):
    """Kinds of entries in metadata filters, the most special last."""

    EQUALITY = auto()
    NONE = auto()
    NESTED = auto()
    DOTTED_KEY = auto()
    HOSTILE_KEY = auto()


FILTERED = {sort: Fact("filtered") for sort in FilterSort}


class Cause(Enum):
    """Causes of differences, as found by second looks."""

    ANY_UNKNOWN = "whatever is unknown is answered like this"
    OTHER_THREAD = "it is a checkpoint of another thread"
    OTHER_COPY = "it is a checkpoint of the other side of a copy"
    OTHER_NAMESPACE = "it is a checkpoint of another namespace"
    ELSEWHERE = "it was put into another workspace"
    LISTING_ALONE = "it is right when it is read by its id"
    CHANGED_ANSWER = "an earlier answer was changed by the caller"
    REFUSED_PRUNE = "the prune was refused"
    AGAIN = "the same was stored before"
    SET_UP_ALREADY = "the store works without being set up again"
    EMPTY_THREAD = "nothing is stored in the thread"
    NONE_ARGUMENTS = "it is right without the arguments that are None"
    ID_FORM = "it is right without the id that is None or empty"
    NAMESPACE_LEFT_OUT = "it is right where the namespace is named"
    LOOP_CONFIG = "it is right without the entries that LangGraph's loop adds"
    FILTER = "it is right without the filter"
    BEFORE = "it is right without before"
    PLACE = "it is right without the id or the namespace asked for"
    HOWEVER_ASKED = "it is wrong however it is asked"


@dataclass(frozen=True, slots=True)
class Listed:
    """The state of a checkpoint when a listing was wrong about it.

    ``removed_by`` is the operation that removed it. ``wrong_metadata`` are the keys that the saver
    shows wrongly in any case. ``filters_ignored`` is True if a filter that fits no checkpoint gives
    some all the same.
    """

    address: Address
    record: Record | None
    removed_by: str | None = None
    wrong_metadata: frozenset[str] = frozenset()
    filters_ignored: bool = False


@dataclass(frozen=True, slots=True)
class Raised:
    """The outcome of an operation that raised instead of returning."""

    error: BaseException

    def __str__(self) -> str:
        return f"raised {describe(self.error)}"


class Look(Protocol):
    """The way in which something was read, so that a script can read it in the same way."""

    def show(self, writer: ScriptWriter, last: Step, difference: Difference) -> None:
        """Write the program's ``last`` step, the look, and the complaint about the difference.

        Raises:
            NoScriptError: a script cannot show this.
        """
        ...


class Part(Protocol):
    """The part of an answer that was compared."""

    def show(self, writer: ScriptWriter, found: str, difference: Difference) -> None:
        """Write a comparison of this part of an answer, which is given as an expression.

        Raises:
            NoScriptError: a script cannot show this.
        """
        ...


@dataclass(slots=True)
class Difference:
    """One fact in which the saver differs from the model.

    ``detail`` is the channel, key or argument concerned; ``write`` the pending write; ``item`` an
    entry that is shown and should not be; ``listed`` the checkpoint that a listing is wrong about.
    ``look`` is what showed the difference, None if the step itself did. ``part`` is the part of the
    answer that differs, if the look gives several. ``first_look`` is True if the checkpoint was
    not looked at before since it was put. ``explains`` are differences that follow from this one.
    """

    kind: Fact
    address: Address | None
    expected: Any
    observed: Any
    detail: str | None = None
    write: PendingWrite | None = None
    item: Any = None
    cause: Cause | None = None
    listed: Listed | None = None
    look: Look | None = None
    part: Part | None = None
    first_look: bool = False
    explains: list[Difference] = field(default_factory=list)

    @property
    def times(self) -> int:
        """The number of differences: this one, and those that it explains."""
        return 1 + sum(other.times for other in self.explains)

    @property
    def fact(self) -> str:
        """The name of the fact that differs, with its detail after a colon."""
        return self.kind.of(self.detail)


Judged = Fact | Circumstance | type[Step] | Contract
"""The things that are counted: a fact; a circumstance of what was compared; a step that did its
work and nothing else; or the contract of a scene.
"""


class FactLog:
    """The facts of a run: a count of those that agreed, and the differences.

    ``look`` is the way in which they were seen. ``masked`` are differences where something was
    known to be wrong already. They point to another flaw only if what is wrong does not predict
    them.
    """

    __slots__ = ("differences", "judged", "look", "masked")

    def __init__(self, look: Look | None = None, joins: FactLog | None = None) -> None:
        self.judged: Counter[Judged] = Counter() if joins is None else joins.judged
        self.differences: list[Difference] = [] if joins is None else joins.differences
        self.masked: list[Difference] = [] if joins is None else joins.masked
        self.look = look

    def by(self, look: Look) -> FactLog:
        """Return a log that shares these counts and differences, for facts seen by another look."""
        return FactLog(look, self)

    def agree(self, fact: Judged, times: int = 1) -> None:
        """Count facts that were as expected."""
        self.judged[fact] += times

    def differ(
        self, fact: Fact, address: Address | None, expected: Any, observed: Any, **known: Any
    ) -> Difference:
        """Note a fact that was not as expected; ``known`` gives further fields of the
        difference.
        """
        difference = Difference(fact, address, expected, observed, **{"look": self.look, **known})
        self.differences.append(difference)
        return difference

    def mask(
        self, fact: Fact, address: Address | None, expected: Any, observed: Any, **known: Any
    ) -> None:
        """Note a difference where something is known to be wrong; arguments as for
        :meth:`differ`.
        """
        self.masked.append(
            Difference(fact, address, expected, observed, **{"look": self.look, **known})
        )

    def compare(
        self, fact: Fact, address: Address | None, expected: Any, observed: Any, **known: Any
    ) -> None:
        """Compare two plain values by ``==``, and count or note the fact."""
        self.judge(expected == observed, fact, address, expected, observed, **known)

    def judge(
        self,
        holds: bool,
        fact: Fact,
        address: Address | None,
        expected: Any,
        observed: Any,
        **known: Any,
    ) -> None:
        """Count or note a fact, depending on ``holds``."""
        if holds:
            self.judged[fact] += 1
        else:
            self.differ(fact, address, expected, observed, **known)

    def merge(self, other: FactLog) -> None:
        """Take over the counts and differences of another log."""
        for fact, times in other.judged.items():
            # A Counter's own update takes three times as long, and this is asked of each answer.
            self.judged[fact] += times
        self.differences += other.differences
        self.masked += other.masked
