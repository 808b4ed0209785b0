"""Where tests put their files, which wait for the night, and when garbage is collected."""

from __future__ import annotations

import gc
import os
import signal
from contextlib import ExitStack

import pytest
from hypothesis import settings

from saverproof.process.scratch import in_memory, scratch_folder

# What is imported and collected here stays to the end: looking for garbage in it takes seconds.
gc.disable()
# As in judge processes: with Python's own 700, a twelfth of the time goes into looking for garbage.
gc.set_threshold(10_000)

# A shell without job control has what it runs in the background ignore Ctrl+C, and so do all the
# programs that tests start: a test that interrupts one would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Without CI's own profile, an example that takes long on a busy machine would be a failure.
settings.register_profile("tests", settings(), deadline=None)
settings.load_profile("tests")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Spare tests the waits for a disk, unless somebody says where their files are to be."""
    memory = in_memory()
    if memory is None or config.option.basetemp is not None:
        return
    stack = ExitStack()
    config.add_cleanup(stack.close)
    config.option.basetemp = str(stack.enter_context(scratch_folder(root=memory)) / "pytest")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out by day what is marked as ``nightly``."""
    if "SAVERPROOF_SEEDS" in os.environ:
        return
    by_night = [item for item in items if item.get_closest_marker("nightly")]
    config.hook.pytest_deselected(items=by_night)
    items[:] = [item for item in items if item not in by_night]


def pytest_collection_finish() -> None:
    """Collect garbage again, but never among the tests themselves."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Look no more into what a file of tests left: later ones collect all garbage, many times, and
    each of these collections would go through the caches and threads of a whole run.
    """
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()
