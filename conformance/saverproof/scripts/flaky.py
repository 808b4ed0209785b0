"""Scripts that depend on timing: try how often one shows its flaw, and say so in its head."""

from __future__ import annotations

import re
from collections.abc import Callable
from time import monotonic

from saverproof.scripts.script import MEANING
from saverproof.scripts.verification import complains_alone

RUNS = 3
"""How often a script is run before it is shown to anybody."""
_IN_VAIN = 2
"""The number of runs without a complaint after which a script that never complained is given up."""

_MOST_TIMES = 20
"""The greatest factor by which a script's repetitions are multiplied, if the script does not show
its flaw each time.
"""
_LONGEST_S = 15.0
"""The longest run in seconds that a script may take with more repetitions. On a slow disk a scene
takes seconds, and each script is run several times before it is shown.
"""

_MEANING = re.compile(re.escape(MEANING).replace(r"\{saver\}", "(?P<saver>.*)"), re.MULTILINE)
_SEEN = re.compile(r"^# It was seen in (?P<often>\d+ of \d+) runs", re.MULTILINE)


def tried_often(
    text: str, promise: str, patient: Callable[[int], str] | None = None, runs: int = RUNS
) -> str:
    """Return the script with a line on how often it complained; "" if it never did.

    ``patient`` makes the same script with that many times the repetitions. If the script does not
    complain each time, the longer one is tried as well, and returned if it complains more often.
    """
    seen, lasted_s = _complaints(text, promise, runs)
    if patient is not None and seen < runs:
        times = min(_MOST_TIMES, int(_LONGEST_S / max(lasted_s, 0.001)))
        if times > 1:
            longer = patient(times)
            oftener, _ = _complaints(longer, promise, runs)
            if oftener > seen:
                text, seen = longer, oftener
    return _marked(text, seen, runs) if seen else ""


def _complaints(text: str, promise: str, runs: int) -> tuple[int, float]:
    """Return how many runs of a script complained, and the seconds that its longest run took."""
    seen, longest_s = 0, 0.0
    for run in range(1, runs + 1):
        begun = monotonic()
        seen += complains_alone(text, promise)
        longest_s = max(longest_s, monotonic() - begun)
        if run >= _IN_VAIN and not seen:
            break
    return seen, longest_s


def _marked(text: str, seen: int, runs: int) -> str:
    often = f"# It was seen in {seen} of {runs} runs: 0 " + (
        "says that it was not seen this time." if seen == runs else "proves nothing, try again."
    )
    found = _MEANING.search(text)
    if found is None:
        # A dense script has no comments.
        promise, end, rest = text.partition('"""\n')
        return f"{promise}{end}{often}\n{rest}"
    meaning = (
        f"# Exits with 1 when {found['saver']} is seen to break this promise, which depends on"
    )
    return f"{text[: found.start()]}{meaning} timing.\n{often}{text[found.end() :]}"


def often_shown(text: str) -> str:
    """Return how often a script showed its flaw, such as "2 of 3"; "" if it always does."""
    found = _SEEN.search(text)
    return found["often"] if found else ""
