"""Measure what operations cost, in counts that are the same on any machine and under any load."""

from saverproof_faults.counters.meeting import Meetings, Met
from saverproof_faults.counters.meter import Counted, Meter
from saverproof_faults.counters.waits import Waited, Waits

__all__ = ["Counted", "Meetings", "Met", "Meter", "Waited", "Waits"]
