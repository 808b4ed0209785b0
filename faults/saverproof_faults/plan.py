"""A fault plan as data: what fails, where, for how long. Frozen, compared by value, JSON both ways.

    >>> plan = Plan(Fault.RAISE, Place(Event.COMMIT))
    >>> plan.describe()
    'OperationalError raised by the driver before the 1st commit of the operation'
    >>> Plan.from_json(plan.to_json()) == plan
    True

Places are counted from 1, from the moment the plan is armed. Client-side places count the calls
that the program makes. Engine-side places count what the engine itself runs: an ``executemany`` of
20 rows is 20 statements, and BEGIN and COMMIT are statements like others.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self, TypeVar

from saverproof_faults import words
from saverproof_faults.errors import PlanError
from saverproof_faults.kinds import EVENTS, STANDING, Event, Fault, Lasts, Moment, Side, side_of

Choice = TypeVar("Choice", bound=StrEnum)

OPERATIONAL = "OperationalError"
"""The DB-API's exception for a database that could not do what it was asked."""
LOCKED = f"{OPERATIONAL}: database is locked"
"""The exception of SQLite's driver, with its message, where another connection has the file."""

EXCERPT = 160
"""Characters of a statement that a plan quotes: enough to recognize it on one line of a terminal.
"""


@dataclass(frozen=True, slots=True)
class Place:
    """The moment of a fault: before or after the ``index``-th ``event`` since arming.

    With ``row`` it is the moment after that row of the event's batch.
    """

    event: Event
    index: int = 1
    moment: Moment = Moment.BEFORE
    row: int | None = None

    def __post_init__(self) -> None:
        _counted("place.index", self.index)
        if self.row is not None:
            _counted("place.row", self.row)

    def describe(self) -> str:
        """Return the place as a part of a sentence."""
        return words.place(self.event, self.index, self.moment, self.row)

    def as_data(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "event": self.event.value,
            "index": self.index,
            "moment": self.moment.value,
            "row": self.row,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """One fault at one place.

    ``error`` names the exception that a RAISE raises: one of the driver's, or a builtin. A message
    may follow it, as in LOCKED. ``about`` quotes for people what stands at the place in the clean
    run; comparisons ignore it.

    Raises:
        PlanError: the fault cannot happen at its place.
    """

    fault: Fault
    place: Place
    lasts: Lasts = Lasts.ONCE
    error: str = OPERATIONAL
    about: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        allowed = EVENTS[self.fault]
        if self.place.event not in allowed:
            raise PlanError(
                f"plan.place.event: found {self.place.event.value!r}, expected "
                f"{words.choice(event.value for event in allowed)} for fault {self.fault.value!r}"
            )
        if self.fault in STANDING and self.lasts is not Lasts.ONWARDS:
            raise PlanError(
                f"plan.lasts: found {self.lasts.value!r}, expected 'onwards' for fault "
                f"{self.fault.value!r}, which is a state of the database"
            )

    @property
    def side(self) -> Side:
        """The class of the fault. Faults of different classes may leave different things behind."""
        return side_of(self.fault)

    def describe(self) -> str:
        """Return one sentence without its full stop, for reports and reproducers."""
        at = self.place
        what = words.fault(self.fault, self.error, at.event, at.moment, at.row)
        where = at.describe()
        quoted = f" ({self.about})" if self.about else ""
        lasting = (
            ", and from there on"
            if self.lasts is Lasts.ONWARDS and self.fault not in STANDING
            else ""
        )
        return f"{what} {where}{quoted}{lasting}"

    def as_data(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "fault": self.fault.value,
            "place": self.place.as_data(),
            "lasts": self.lasts.value,
            "error": self.error,
            "about": self.about,
        }

    def to_json(self) -> str:
        """Return one line of JSON."""
        return json.dumps(self.as_data(), sort_keys=True)

    @classmethod
    def from_data(cls, data: object) -> Self:
        """Make a plan from the result of ``as_data``.

        Raises:
            PlanError: a field is wrong; the message names the first.
        """
        fields = _mapping("plan", data, {"fault", "place", "lasts", "error", "about"})
        place = _mapping("plan.place", fields.get("place"), {"event", "index", "moment", "row"})
        row = place.get("row")
        return cls(
            _member(Fault, "plan.fault", fields.get("fault")),
            Place(
                _member(Event, "plan.place.event", place.get("event")),
                _integer("plan.place.index", place.get("index", 1)),
                _member(Moment, "plan.place.moment", place.get("moment", Moment.BEFORE.value)),
                None if row is None else _integer("plan.place.row", row),
            ),
            _member(Lasts, "plan.lasts", fields.get("lasts", Lasts.ONCE.value)),
            _text("plan.error", fields.get("error", "OperationalError")),
            _text("plan.about", fields.get("about", "")),
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Make a plan from the result of ``to_json``.

        Raises:
            PlanError: the text is not a plan.
        """
        try:
            data = json.loads(text)
        except ValueError as problem:
            raise PlanError(f"plan: found text that is not JSON ({problem})") from problem
        return cls.from_data(data)


def excerpt(sql: str) -> str:
    """Return a statement on one line, cut to EXCERPT characters."""
    line = " ".join(sql.split())
    return line if len(line) <= EXCERPT else line[: EXCERPT - 1] + "…"


def _counted(name: str, value: object) -> None:
    if _integer(name, value) < 1:
        raise PlanError(f"{name}: found {value!r}, expected a number from 1")


def _mapping(name: str, data: object, known: set[str]) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise PlanError(f"{name}: found {data!r}, expected an object")
    unknown = sorted(str(key) for key in data if key not in known)
    if unknown:
        raise PlanError(f"{name}: found field {unknown[0]!r}, expected {words.choice(known)}")
    return data


def _integer(name: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise PlanError(f"{name}: found {value!r}, expected an integer")
    return value


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise PlanError(f"{name}: found {value!r}, expected text")
    return value


def _member(kind: type[Choice], name: str, value: object) -> Choice:
    for member in kind:
        if member.value == value:
            return member
    raise PlanError(
        f"{name}: found {value!r}, expected {words.choice(member.value for member in kind)}"
    )
