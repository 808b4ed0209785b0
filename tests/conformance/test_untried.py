"""Where system calls cannot be held, the run says that no storage fault was tried, and why.

By night, kills alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.conformance.durability.test_durability import judged
from tests.conformance.plugin_support import Project
from tests.faults import without_seccomp

from saverproof.families import untried
from saverproof.families.durability.kills import kill_points
from saverproof.families.durability.power import power_cuts
from saverproof_faults.syscalls import available

REPLACED = "tests.conformance.durability.test_durability_files:replaced"
ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(available() is not None, reason=str(available()))


def test_a_run_where_seccomp_is_forbidden_says_so_in_its_headline(tmp_path: Path) -> None:
    command = (sys.executable, without_seccomp.__file__, sys.executable, "-m", "pytest")
    options = ("--saver-families=atomicity", "--saver-api=sync", "--saver-profile=quick")
    # What other tests have their children from is under no such rule.
    environment = {"PYTHONPATH": str(ROOT), "SAVERPROOF_FORKS": ""}
    done = Project(tmp_path).run(*(*command, f"--saver={REPLACED}", *options), **environment)
    lines = done.output.splitlines()
    (headline,) = (line for line in lines if line.startswith("replaced was judged on none"))
    assert headline.endswith("; no storage fault was tried")
    assert (
        "replaced: no storage fault was tried: this container's or system's rules forbid seccomp "
        "filters (Operation not permitted), which Docker allows with "
        "--security-opt seccomp=unconfined." in lines
    )


@pytest.mark.nightly
def test_kills_alone_are_no_storage_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    why = "this kernel has no seccomp notifications"
    for module in (kill_points, power_cuts):
        monkeypatch.setattr(module, "system_calls_unavailable", lambda: why)
    monkeypatch.setattr(untried, "available", lambda: why)
    outcome = judged(REPLACED, tmp_path, monkeypatch, swept=4)
    assert outcome.extra["faults"] == {"untried": why}
    assert outcome.extra["crash"]["kill_points"].keys() <= {"call", "acknowledged"}
    assert outcome.findings == ()
