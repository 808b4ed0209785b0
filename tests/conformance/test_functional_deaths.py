"""A saver that hangs or ends the process in a functional family: what the journal tells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.conformance.judging_support import plan_of
from tests.conformance.replay_targets import ref_to

from saverproof.families.handlers import HANDLERS
from saverproof.families.requests import BLAME, Death
from saverproof.process.requests import as_json
from saverproof.programs.steps.codec import to_json
from saverproof.programs.steps.definitions import DeleteThread, Put
from saverproof.savers.targets.loading import load


def test_the_last_step_of_the_journal_is_blamed(tmp_path: Path) -> None:
    ref = ref_to("oldest-first")
    plan = plan_of(load(ref), "deletion", "sync", tmp_path, facts={})
    program = (Put("a", "", 1), DeleteThread("a"))
    death = Death(replace(plan, target=ref.to_json()), tuple(to_json(program)))
    # As it comes from the process of pytest.
    answer = HANDLERS.answer_json(BLAME.name, as_json(death), lambda _: None)
    blame = BLAME.read_answer(answer)
    assert blame.contract == "deletion/thread-all"
    assert len(blame.steps) == len(program)
    assert blame.program == to_json(program)
    assert 'saver.delete_thread("a")' in blame.reproducer
