"""A worker is stopped, another one finishes its thread: reports have what the saver makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance import fencing_saver
from tests.conformance.concurrency.concurrency_support import BUNDLED, judged

from saverproof.families.concurrency.effort import SceneEffort

OVERTAKEN = SceneEffort(shared=0, instances=0, processes=0, races=0, overtaken=True)


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(
    ("saver", "answer"),
    [
        (BUNDLED, "is stored, and is the latest"),
        (
            f"{fencing_saver.__name__}:fencing",
            "is refused: RuntimeError: another worker has gone on with this thread",
        ),
    ],
)
def test_what_it_may_still_put_is_told(
    saver: str, answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = judged(
        saver, tmp_path, "sync", monkeypatch, OVERTAKEN, "concurrency/processes-lose-nothing"
    )
    notes = outcome.extra["concurrency"]["notes"]
    assert [note for note in notes if note.endswith(answer)], (notes, outcome.unknown)
