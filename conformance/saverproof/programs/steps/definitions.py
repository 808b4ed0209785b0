"""The steps of a program: frozen data with symbolic names, which everything else works on.

The rare kinds, which are examples by themselves, are in :mod:`saverproof.judging.scenes`.

A checkpoint is named by its thread, its namespace and a number; the number decides its id
(:func:`saverproof.programs.steps.identifiers.mint`). Values are
:class:`saverproof.programs.values.Value`.
Channel versions do not appear: they are made while a program runs, by the saver under test unless
a put says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias

from saverproof.programs.values import Value

Json: TypeAlias = Any
"""Any value that JSON can hold."""


class IdForm(StrEnum):
    """The form in which a config leaves out the checkpoint id: absent, None or empty."""

    ABSENT = "absent"
    NONE = "none"
    EMPTY = "empty"


class VersionsBy(StrEnum):
    """Who makes the channel versions of a put: the saver, or LangGraph's Agent Server."""

    SAVER = "saver"
    AGENT_SERVER = "agent-server"


class Times(StrEnum):
    """The order of the times of checkpoints whose ids rise."""

    RISING = "rising"
    EQUAL = "equal"
    FALLING = "falling"


@dataclass(frozen=True, slots=True)
class Extras:
    """The content of a config beside the address.

    ``loop`` adds what LangGraph's loop puts there: runtime objects under ``__pregel_*``, a
    checkpoint map, tags and callbacks. The two mappings are plain JSON that a caller added.
    """

    loop: bool = False
    configurable: Mapping[str, Json] | None = None
    metadata: Mapping[str, Json] | None = None


PLAIN = Extras()


class Step:
    """One operation of a program; :data:`KINDS` has its classes."""

    __slots__ = ()

    calls_optional: ClassVar[bool] = False
    """True if the step may call methods of a saver that the base class does not have."""

    def __init_subclass__(cls, *, abstract: bool = False) -> None:
        # A dataclass with slots is made twice: the second class replaces the first.
        if not abstract:
            KINDS[cls.__name__] = cls


KINDS: dict[str, type[Step]] = {}
"""The classes of steps by name; rare ones are added when their module is imported."""


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
    ``versions`` says who makes its channel versions; all puts of a thread have the same maker.
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
    versions: VersionsBy = VersionsBy.SAVER


@dataclass(frozen=True, slots=True)
class PutHistory(Step):
    """Store ``count`` checkpoints from ``number`` on, each the child of the one before.

    The first is the child of ``parent``. Each changes the channel ``count``. Every ``marked``-th
    one is of the user ``ann`` (0: none).
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
    """Store a batch of one task's pending writes on checkpoint ``number``, which may not be put
    yet.
    """

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
    """List one namespace's history in pages of ``size``, each before the last id of the page
    before.
    """

    thread: str
    namespace: str
    size: int


@dataclass(frozen=True, slots=True)
class DeleteThread(Step):
    """Delete a thread, which may hold nothing."""

    thread: str


@dataclass(frozen=True, slots=True)
class DeleteForRuns(Step):
    """Delete the checkpoints whose metadata names one of these runs, in every thread."""

    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CopyThread(Step):
    """Copy a thread to a thread that holds nothing."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Prune(Step):
    """Prune threads with the strategy ``keep_latest`` or ``delete``; with "" none is given."""

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
    """Ask for ``count`` channel versions in a row, the first without a previous version.

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

    calls_optional: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class OwnStep(Step):
    """A step of a rule that an author added to a machine, with the values drawn for it.

    ``contract`` demands that the rule does not raise, and that the saver then shows what the model
    has. ``arguments`` are the rule's arguments, without those that the four place fields hold.
    """

    rule: str
    contract: str
    thread: str | None = None
    namespace: str | None = None
    number: int | None = None
    task: int | None = None
    arguments: Mapping[str, Json] | None = None


Program: TypeAlias = tuple[Step, ...]
