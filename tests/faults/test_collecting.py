"""The garbage collector is off as long as anybody needs it off."""

import gc
import threading

from saverproof_faults.collecting import HELD_OFF, hold_off


def test_the_collector_stays_off_until_the_last_of_blocks_that_overlap_ends() -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        hold_off()
        with HELD_OFF:
            entered.set()
            leave.wait()

    other = threading.Thread(target=hold)
    other.start()
    entered.wait()
    hold_off()
    with HELD_OFF:
        leave.set()
        other.join()
        assert not gc.isenabled()
    assert gc.isenabled()
