"""Looking where threads stand."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from saverproof_faults.settled import standing


class _Kept:
    """Something in a variable of the program, such as a cursor."""


@pytest.mark.parametrize("looks", [1, 3])
def test_a_look_keeps_nothing_of_the_frames_it_saw(looks: int) -> None:
    """SQLite refuses a COMMIT while a cursor of a call that has ended is still alive."""
    kept: list[weakref.ref[_Kept]] = []
    inside, go_on = threading.Event(), threading.Event()

    def held() -> None:
        mine = _Kept()
        kept.append(weakref.ref(mine))
        inside.set()
        go_on.wait()

    thread = threading.Thread(target=held)
    gc.disable()
    try:
        thread.start()
        inside.wait()
        seen = [standing([thread]) for _ in range(looks)]
        go_on.set()
        thread.join()
        assert all(seen)
        assert kept[0]() is None
    finally:
        gc.enable()
