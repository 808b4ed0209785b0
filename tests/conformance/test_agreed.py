"""An answer that was right once is compared again as soon as anything about it is different."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.wrong_savers.registry import opener

from saverproof.families.machines.explaining.trials import ProgramRun, Trials
from saverproof.judging import facts
from saverproof.judging.agreed import Agreed
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.programs.model.records import Provenance
from saverproof.programs.steps.definitions import Put
from saverproof.programs.steps.identifiers import mint
from saverproof.programs.values import Value
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.target import Target

GIVEN = facts.VALUES[Provenance.GIVEN]


class Text(str):
    """A text that is none to the letter."""

    __slots__ = ()


class LaterAnother(ReferenceSaver):
    """Shows the first checkpoint in another way once the second is there."""

    wrong: Callable[[Any], Any]
    later = False

    def put(self, config: Any, checkpoint: Any, *rest: Any) -> Any:
        self.later = self.later or checkpoint["id"] == mint(2)
        return super().put(config, checkpoint, *rest)

    def get_tuple(self, config: Any) -> Any:
        found = super().get_tuple(config)
        if self.later and found.checkpoint["id"] == mint(1):
            return type(self).wrong(found)
        return found


def judged(wrong: Callable[[Any], Any], value: Value, folder: Path) -> ProgramRun:
    saver = type("Another", (LaterAnother,), {"wrong": staticmethod(wrong)})
    first = Put("a", "", 1, changes=(("notes", value),), metadata={"source": "loop"})
    with EventLoop() as loop:
        trials = Trials(Target(name="wrong", open=opener(saver)), folder, loop, ("sync",))
        return trials.replay((first, Put("a", "", 2, 1)))


def shows_value(value: Any) -> Callable[[Any], Any]:
    """Have a tuple show another value."""

    def wrong(found: Any) -> Any:
        values = {**found.checkpoint["channel_values"], "notes": value}
        return found._replace(checkpoint={**found.checkpoint, "channel_values": values})

    return wrong


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Value("integer", 1), True),
        (Value("integer", 1), 1.0),
        (Value("float-edge", 0), 0.0),
        (Value("text", "a"), Text("a")),
        (Value("list", 0), (0,)),
        (Value("bytes", 0), bytearray(b"bytes 0")),
        (Value("nested", 0), [{"a": [{"b": {0, 1}}]}, bytearray(b"x")]),
    ],
    ids=repr,
)
def test_a_value_of_another_type_is_seen(value: Value, shown: Any, tmp_path: Path) -> None:
    made = value.make()
    assert not judged(shows_value(made), value, tmp_path).breaches
    kinds = {
        breach.difference.kind for breach in judged(shows_value(shown), value, tmp_path).breaches
    }
    assert kinds == {GIVEN}


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (lambda found: found._replace(metadata={}), facts.METADATA),
        (lambda found: found._replace(parent_config=found.config), facts.PARENT),
        (lambda found: found._replace(checkpoint={**found.checkpoint, "ts": ""}), facts.FIELD),
        (lambda found: found._replace(pending_writes=[("t", "c", 1)]), facts.WRITE_EXTRA),
    ],
    ids=["metadata", "parent", "field", "writes"],
)
def test_every_part_is_seen(wrong: Callable[[Any], Any], kind: facts.Fact, tmp_path: Path) -> None:
    run = judged(wrong, Value("text", "a"), tmp_path)
    assert {breach.difference.kind for breach in run.breaches} == {kind}


def test_the_same_answer_counts_as_evidence_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Agreed, "recognizes", lambda *given: False)
    compared = counts(tmp_path)
    monkeypatch.undo()
    recognized: list[bool] = []
    recognizes = Agreed.recognizes
    monkeypatch.setattr(
        Agreed, "recognizes", lambda *given: recognized.append(recognizes(*given)) or recognized[-1]
    )
    assert counts(tmp_path) == compared
    assert any(recognized)


def counts(folder: Path) -> dict[str, int]:
    """How often each contract held in a program that shows its checkpoints several times."""
    puts = [Put("a", "", 1, changes=(("notes", Value("integer", 1)),)), Put("a", "", 2, 1)]
    with EventLoop() as loop:
        target = Target(name="right", open=opener(ReferenceSaver))
        trials = Trials(target, folder, loop, ("sync",))
        trials.replay(puts, count=True)
        return trials.checked
