"""The steps of a program: frozen data with symbolic names, which everything else works on.

A checkpoint is named by its thread, its namespace and a number; the number decides its id
(:func:`saverproof.steps.identifiers.mint`). Values are :class:`saverproof.values.Value`.
Channel versions do not appear: they come from the saver under test while a program runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from saverproof.values import Value

Json: TypeAlias = Any
"""What JSON can hold."""


class IdForm(StrEnum):
    """How a config says that it names no checkpoint."""

    ABSENT = "absent"
    NONE = "none"
    EMPTY = "empty"


class Times(StrEnum):
    """How the times of checkpoints go whose ids rise."""

    RISING = "rising"
    EQUAL = "equal"
    FALLING = "falling"


@dataclass(frozen=True, slots=True)
class Extras:
    """What a config carries beside the address.

    ``loop`` adds what LangGraph's loop puts there: runtime objects under ``__pregel_*``, a
    checkpoint map, tags and callbacks. The two mappings are plain JSON that a caller added.
    """

    loop: bool = False
    configurable: Mapping[str, Json] | None = None
    metadata: Mapping[str, Json] | None = None


PLAIN = Extras()


class Step:
    """One operation of a program."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Put(Step):
    """Store checkpoint ``number`` as a child of ``parent`` (None: a root).

    ``format`` is the checkpoint's ``v`` (None: what the installed LangGraph writes); ``fields``
    says which others it has: ``usual``, ``unknown`` (updated channels None), ``pending-sends`` or
    ``fewer``. ``legacy_writes`` is an object under the legacy metadata key ``writes``.

    ``changes`` are the channels with a new version; a value of None means the channel lost its
    value. All other channels are the parent's. With ``copy_of`` the checkpoint is a copy-fork:
    the values and versions of that checkpoint, its parent, and empty new versions. ``clock`` is
    the number of the checkpoint whose time this one bears (None: its own): clocks go back.
    """

    thread: str
    namespace: str
    number: int
    parent: int | None = None
    changes: tuple[tuple[str, Value | None], ...] = ()
    copy_of: int | None = None
    metadata: Mapping[str, Json] | None = None
    node: str = "agent"
    format: int | None = None
    fields: str = "usual"
    legacy_writes: Value | None = None
    id_form: IdForm = IdForm.ABSENT
    omit_unchanged: bool = False
    mutate_inputs: bool = False
    extras: Extras = PLAIN
    clock: int | None = None


@dataclass(frozen=True, slots=True)
class PutHistory(Step):
    """Store ``count`` checkpoints from ``number`` on, each the child of the one before, the first
    the child of ``parent``.

    Each changes the channel ``count``. Every ``marked``-th is of the user ``ann`` (0: none is).
    """

    thread: str
    namespace: str
    number: int
    count: int
    parent: int | None = None
    marked: int = 0
    times: Times = Times.RISING


@dataclass(frozen=True, slots=True)
class PutWrites(Step):
    """Store a batch of pending writes of one task on checkpoint ``number``, put or not yet."""

    thread: str
    namespace: str
    number: int
    task: int
    writes: tuple[tuple[str, Value], ...]
    path: str = ""
    give_namespace: bool = True
    mutate_inputs: bool = False
    extras: Extras = PLAIN


@dataclass(frozen=True, slots=True)
class GetTuple(Step):
    """Read checkpoint ``number``, or the latest of the namespace (None: no namespace given)."""

    thread: str
    namespace: str | None = ""
    number: int | None = None
    id_form: IdForm = IdForm.ABSENT
    mutate_result: bool = False
    extras: Extras = PLAIN


@dataclass(frozen=True, slots=True)
class ListTuples(Step):
    """List checkpoints; ``thread`` None lists every thread, ``before`` is a checkpoint number."""

    thread: str | None
    namespace: str | None = None
    number: int | None = None
    filter: Mapping[str, Json] | None = None
    before: int | None = None
    limit: int | None = None
    id_form: IdForm = IdForm.ABSENT
    extras: Extras = PLAIN


@dataclass(frozen=True, slots=True)
class WalkPages(Step):
    """Walk one namespace's history in pages of ``size``, each before the last id of the last."""

    thread: str
    namespace: str
    size: int


@dataclass(frozen=True, slots=True)
class DeleteThread(Step):
    """Delete a thread, known or not."""

    thread: str


@dataclass(frozen=True, slots=True)
class DeleteForRuns(Step):
    """Delete the checkpoints whose metadata names one of these runs, in every thread."""

    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CopyThread(Step):
    """Copy a thread to one that holds nothing."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Prune(Step):
    """Prune threads with a strategy, ``keep_latest`` or ``delete``; "" gives none."""

    threads: tuple[str, ...]
    strategy: str


@dataclass(frozen=True, slots=True)
class DeltaHistory(Step):
    """Ask for the delta history of channels at a checkpoint (None: the latest)."""

    thread: str
    namespace: str
    number: int | None
    channels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NextVersions(Step):
    """Mint ``count`` channel versions in a row, starting from none.

    With ``clock_goes_back`` the machine's clock is set back by an hour halfway.
    """

    count: int
    clock_goes_back: bool = False


@dataclass(frozen=True, slots=True)
class Reopen(Step):
    """Close the saver and open it again on the same workspace."""


@dataclass(frozen=True, slots=True)
class SetUp(Step):
    """Set the store up once more, as each start of an application does."""


@dataclass(frozen=True, slots=True)
class CloseAgain(Step):
    """Close the saver twice, then open it again."""


@dataclass(frozen=True, slots=True)
class AbandonList(Step):
    """Leave a listing of the thread after its first item."""

    thread: str


@dataclass(frozen=True, slots=True)
class Clone(Step):
    """Go on through a shallow copy with another serializer object, as ``with_allowlist`` makes."""


@dataclass(frozen=True, slots=True)
class DropClone(Step):
    """Drop the shallow copy and go on with the saver itself."""


@dataclass(frozen=True, slots=True)
class Elsewhere(Step):
    """Open the saver on another workspace, put a checkpoint there and look at what it sees."""

    thread: str
    number: int


@dataclass(frozen=True, slots=True)
class CheckFiles(Step):
    """Look at the files below the workspace: ``encrypted`` for plaintext, ``private`` for modes."""

    look_for: str


@dataclass(frozen=True, slots=True)
class CallOnLoop(Step):
    """Make a sync call on the thread of a running event loop."""

    operation: str
    thread: str
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Bulk(Step):
    """Many of something at once: ``writes``, ``channels`` or ``checkpoints``."""

    kind: str
    thread: str
    number: int
    count: int


@dataclass(frozen=True, slots=True)
class FirstOperation(Step):
    """Open a new store and make this operation the first on it, set up or not."""

    operation: str
    set_up: bool


@dataclass(frozen=True, slots=True)
class RefuseValue(Step):
    """Hand over a value that cannot be serialized, in a put or in the middle of a batch."""

    operation: str
    thread: str
    namespace: str
    number: int
    parent: int | None = None
    position: int = 0


@dataclass(frozen=True, slots=True)
class OwnStep(Step):
    """A step of a rule that an author added to a machine, with the values drawn for it.

    ``contract`` is what the rule demands: that it does not raise, and that nothing else differs
    after it. ``arguments`` are those of the rule beside the four that name a place.
    """

    rule: str
    contract: str
    thread: str | None = None
    namespace: str | None = None
    number: int | None = None
    task: int | None = None
    arguments: Mapping[str, Json] | None = None


Program: TypeAlias = tuple[Step, ...]
