"""The parts of the fixtures for an author's own tests: target, workspace and saver."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from saverproof.process.scratch import scratch_folder
from saverproof.run.plugin.run import RUN
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.opening import fresh_workspace, opened
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.target import Target
from saverproof.savers.workspace import Workspace


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Call the test once for each target, or skip it if there is none."""
    run = metafunc.config.stash.get(RUN, None)
    if run is None:
        skip = pytest.mark.skip(reason="the test is about what --saver names: there is no --saver")
        metafunc.parametrize("saverproof_target", [pytest.param(None, marks=skip)], indirect=True)
        return
    refs = [TargetRef.from_json(facts["ref"]) for facts in run.savers]
    names = [facts["name"] for facts in run.savers]
    metafunc.parametrize("saverproof_target", refs, ids=names, indirect=True)


def target_of(request: pytest.FixtureRequest) -> Target:
    """Return the target for one call of a test."""
    ref: TargetRef = request.param
    return load(ref)


@contextmanager
def workspace_of(target: Target) -> Iterator[Workspace]:
    """Make a new workspace for the length of a block, in a folder that is removed afterwards."""
    with scratch_folder() as folder, fresh_workspace(folder, target) as workspace:
        yield workspace


@contextmanager
def saver_of(target: Target, workspace: Workspace) -> Iterator[Any]:
    """Open the saver for the length of a block."""
    with EventLoop() as loop, opened(target, workspace, loop) as saver:
        yield saver
