"""Scenes of the family serialization."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import gzip
import math
import pickle
import threading
import uuid
import zlib
from functools import reduce
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.types import Interrupt, Send
from pydantic import BaseModel

from tests.wrong_savers.scenes import scene
from tests.wrong_savers.scenes.probe import Probe


class Color(enum.Enum):
    RED = "red"


class Level(enum.StrEnum):
    HIGH = "high"


class Model(BaseModel):
    name: str


@dataclasses.dataclass
class Record:
    name: str


VALUES: tuple[Any, ...] = (
    *(0, 1, -1, 2**53 + 1, 2**63, 2**64 - 1, -(2**63), 0.0, 1.0, 0.1, 1e16, True, False, None),
    *(
        "",
        "text",
        " padded ",
        "\U0001f600",
        "é",
        "ﬁ",
        " ".join("x" * n for n in range(1_450)),
        b"",
        b"\x00\xff",
    ),
    *([], {}, [0, "", None], {"k": {"deep": [1]}}, {1: "one"}, {1, 2}, frozenset({1})),
    *(uuid.UUID(int=7), decimal.Decimal("0.10"), datetime.timedelta(seconds=1.5)),
    datetime.datetime(2026, 1, 2, 3, 4, 5, 6, datetime.UTC),
    datetime.date(2026, 1, 2),
    *(Color.RED, Level.HIGH, Model(name="m"), Record("r"), HumanMessage("hi", id="1")),
    AIMessage("hi", additional_kwargs={"a": 1}, response_metadata={"b": 2}),
    *([*range(1_001)], reduce(lambda inner, _: [inner], range(40), 1)),
    *(
        zlib.compress(b"a"),
        gzip.compress(b"a"),
        pickle.dumps([1], protocol=4),
        b"\x28\xb5\x2f\xfda",
    ),
    *({"type": "a", "data": 1}, {"$date": "a"}, "dGV4dA==", _DeltaSnapshot([1])),
    Interrupt({"when": datetime.date(2026, 1, 2)}, id="1"),
    Send("node", {"some": {1}}),
)


def typed(value: Any) -> Any:
    """A value with its type, which equality alone would not tell."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    return (type(value).__name__, repr(value))


@scene("serialization/channel-values")
def every_value(p: Probe) -> Any:
    channels = {f"c{number}": value for number, value in enumerate(VALUES)}
    channels |= {f"d{number}": {"inside": value} for number, value in enumerate(VALUES)}
    channels |= {"nul": "a\0b", "nan": math.nan, "inf": math.inf}
    found = []
    for number, (channel, value) in enumerate(channels.items(), 1):
        p.put(number, values={channel: value})
        held = p.held("a", "", number)
        found.append(typed(held) if isinstance(held, dict) else held)
    # Equal to the value before, or like it.
    parent = None
    alike = (1, True, 1.0, 0, False, "[1]", b"a\0", {"": 1}, str(uuid.UUID(int=7)))
    for number, value in enumerate(alike, 1):
        p.put(number, thread="d", parent=parent, values={"x": value})
        found.append(typed(p.held("d", "", number)))
        parent = number
    # Of one length, and other in the middle alone, or at the end alone.
    for number, (middle, end) in enumerate(("ax", "bx", "xa", "xb"), 1):
        p.put(number, thread="e", values={"x": "-" * 9_000 + middle + "-" * 9_000 + end})
        found.append(p.held("e", "", number))
    # More than a hundred channels, and more than 16 MB.
    many, large = {f"c{n}": n for n in range(101)}, {"x": b" ".join(b"x" * n for n in range(5_700))}
    p.put(1, thread="b", values=many)
    p.put(1, thread="c", values=large)
    return found, p.held("b"), p.held("c") == large


@scene("serialization/write-values")
def every_written_value(p: Probe) -> Any:
    p.put(1)
    for number, value in enumerate(VALUES):
        p.write(1, [("x", value), ("y", {"inside": value})], f"t{number}")
    p.write(1, [("__error__", ValueError("no"))], "t99")
    found = p.pending("a", "", 1)
    return found if isinstance(found, str) else [typed(value) for _, _, value in found]


@scene("serialization/non-finite")
def values_without_end(p: Probe) -> Any:
    answers = [p.put(1, values={"x": math.inf}), p.put(2, values={"x": [math.nan]})]
    return [isinstance(answer, str) for answer in answers]


@scene("serialization/nul-in-strings")
def values_with_nul(p: Probe) -> Any:
    return isinstance(p.put(1, values={"x": "a\0b"}), str)


NAMES = ("a.b", "a.c", "a b", "it's", 'say "x"', "back\\slash", "é", "\U0001f600", "Case", "case")


@scene("serialization/names")
def odd_names(p: Probe) -> Any:
    long = ["c" * 70 + end for end in "12"]
    p.put(1, values={name: name for name in (*NAMES, *long, "branch:to:x")})
    p.write(1, [(name, 1) for name in (*NAMES, "branch:to:x")], "t1", "~pull, née: it's")
    return p.held("a", "", 1), p.pending("a", "", 1)


@scene("serialization/metadata")
def odd_metadata(p: Probe) -> Any:
    metadata = {
        "text": "é\U0001f600",
        "empty": "",
        "zero": 0,
        "none": None,
        "big": 2**62 + 1,
        "float": 0.1,
        "Key": 1,
        "list": [1, "a", None],
        "dict": {"a": {"b": 1}},
        "step": 0,
        "parents": {"": "1", "n:1": "2"},
        "tags": ["only"],
        "lines": "a\r\nb",
        "long": "x" * 70_000,
        "k" * 70: 1,
    }
    p.put(1, metadata=metadata)
    stored = p.tuple().metadata
    steps = [(p.put(2, metadata={"step": step}), p.tuple().metadata) for step in (-1, 100_000)]
    return {key: typed(stored.get(key, "absent")) for key in metadata}, steps


@scene("serialization/config-metadata-merged")
def metadata_of_the_config(p: Probe) -> Any:
    given = {"text": "t", "int": 1, "zero": 0, "float": 0.5, "bool": True, "no": False}
    extra = {"metadata": {**given, "step": 99, "__private": "p", "langgraph_node": "n"}}
    config = {**p.config("a", "", also="c", langgraph_step=3, __hidden="h"), **extra}
    checkpoint, new = p.checkpoint(("a", "", 1))
    p.attempt(lambda: p.call("put", config, checkpoint, {"step": 1}, new))
    stored = p.tuple().metadata
    return {key: typed(value) for key, value in stored.items()}


@scene("serialization/legacy-writes-metadata")
def metadata_with_writes(p: Probe) -> Any:
    return isinstance(p.put(1, metadata={"writes": {"n": {"m": [AIMessage("hi")]}}}), str)


@scene("serialization/checkpoint-fields")
def every_field(p: Probe) -> Any:
    p.put(
        1,
        values={"x": 1, "y": 2},
        drop=["y"],
        versions_seen={"n": {"x": "1"}, "m": {}, "__input__": {}, "__start__": {"x": "1"}},
        updated_channels=["y", "x"],
    )
    return p.tuple().checkpoint


@scene("serialization/older-checkpoints")
def older_formats(p: Probe) -> Any:
    answers = [p.put(v, v=v, pending_sends=[{"node": "n"}]) for v in (1, 2, 3)]
    checkpoint, new = p.checkpoint(("a", "", 4))
    del checkpoint["updated_channels"]
    answers.append(p.attempt(lambda: p.call("put", p.config(), checkpoint, {}, new)))
    sent = p.attempt(lambda: p.tuple("a", "", 1).checkpoint.get("pending_sends"))
    return [isinstance(answer, str) for answer in answers], p.ids(p.config()), sent


@scene("serialization/unserializable-is-refused")
def values_that_cannot_be_stored(p: Probe) -> Any:
    bad = threading.Lock()
    p.put(1, values={"x": 1})
    answers = [
        p.put(2, parent=1, values={"x": 2, "bad": bad}),
        p.write(1, [("x", 1), ("bad", bad), ("x", 2)]),
    ]
    answers.append(p.write(1, [], "t2"))
    return [isinstance(a, str) for a in answers], p.ids(p.config()), p.pending("a", "", 1)


@scene("serialization/large")
def large_programs(p: Probe) -> Any:
    answers = [p.put(1, values={f"c{n}": n for n in range(1000)})]
    answers.append(p.write(1, [("x", n) for n in range(20_000)]))
    answers += [p.put(n, thread="b", parent=n - 1 or None) for n in range(1, 1200)]
    # What is taken and then not shown breaks the contract of what is missing.
    return [isinstance(answer, str) for answer in answers]
