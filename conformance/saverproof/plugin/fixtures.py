"""The fixtures for an author's own tests: the target, a workspace of it, its saver."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from saverproof.plugin.run import RUN
from saverproof.process.scratch import scratch_folder
from saverproof.targets.event_loop import EventLoop
from saverproof.targets.loading import load
from saverproof.targets.opening import fresh_workspace, opened
from saverproof.targets.reference import TargetRef
from saverproof.targets.target import Target
from saverproof.workspace import Workspace


def parametrize(metafunc: pytest.Metafunc) -> None:
    """One call of the test for each target; one that is skipped if there is none."""
    run = metafunc.config.stash.get(RUN, None)
    if run is None:
        skip = pytest.mark.skip(reason="the test is about what --saver names: there is no --saver")
        metafunc.parametrize("saverproof_target", [pytest.param(None, marks=skip)], indirect=True)
        return
    refs = [TargetRef.from_json(facts["ref"]) for facts in run.savers]
    names = [facts["name"] for facts in run.savers]
    metafunc.parametrize("saverproof_target", refs, ids=names, indirect=True)


def target_of(request: pytest.FixtureRequest) -> Target:
    """The target for one call of a test."""
    ref: TargetRef = request.param
    return load(ref)


@contextmanager
def workspace_of(target: Target) -> Iterator[Workspace]:
    """A new workspace in a folder that goes with it."""
    with scratch_folder() as folder, fresh_workspace(folder, target) as workspace:
        yield workspace


@contextmanager
def saver_of(target: Target, workspace: Workspace) -> Iterator[Any]:
    """The saver, open while the test runs."""
    with EventLoop() as loop, opened(target, workspace, loop) as saver:
        yield saver
