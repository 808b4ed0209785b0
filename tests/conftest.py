"""Where tests put their files, and when garbage is collected."""

from __future__ import annotations

import gc
from contextlib import ExitStack

import pytest
from hypothesis import settings

from saverproof.process.scratch import in_memory, scratch_folder

# What is imported and collected here stays to the end: looking for garbage in it takes seconds.
gc.disable()

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


def pytest_collection_finish() -> None:
    """Collect garbage again, but never among the tests themselves."""
    gc.freeze()
    gc.enable()
