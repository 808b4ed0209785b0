"""Looks at the stacks of threads that go on whenever they can, for a process of its own."""

from __future__ import annotations

import gc
import os
import random
import threading
import time
from collections.abc import Callable

from saverproof.process import stacks


class Finalized:
    """Garbage that lets other threads go on where it is collected, as an open connection does."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        time.sleep(0.0002)


KINDS: list[Callable[[int], object]] = []
"""Functions whose frames have different sizes, so that one is not just where another was."""


def calling(size: int) -> Callable[[int], object]:
    names = [f"local{number}" for number in range(size)]
    source = (
        f"def call(depth):\n    {' = '.join(names)} = depth\n    return go_on(depth), {names[0]}"
    )
    scope: dict[str, Callable[[int], object]] = {"go_on": go_on}
    exec(source, scope)
    return scope["call"]


def go_on(depth: int) -> object:
    return random.choice(KINDS)(depth - 1) if depth else time.sleep(0)


def work() -> None:
    while True:
        go_on(random.randrange(20))


def main() -> None:
    KINDS.extend(map(calling, range(1, 40, 3)))
    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
    gc.set_threshold(20)
    for _ in range(300):
        Finalized()
        assert len(stacks.of_others()) == 3
    # Its threads have no end.
    os._exit(0)


if __name__ == "__main__":
    main()
