"""Scripts that depend on timing: try how often one shows its flaw, and say so in its head."""

from __future__ import annotations

import re

from saverproof.scripts.script import MEANING
from saverproof.scripts.verification import complains_alone

RUNS = 3
"""Runs of a script before it is shown to anybody."""
_IN_VAIN = 2
"""Runs without a complaint after which a script that never complained is given up."""

_MEANING = re.compile(re.escape(MEANING).replace(r"\{saver\}", "(?P<saver>.*)"), re.MULTILINE)
_SEEN = re.compile(r"^# It was seen in (?P<often>\d+ of \d+) runs", re.MULTILINE)


def tried_often(text: str, promise: str, patient: str = "", runs: int = RUNS) -> str:
    """Return the script with a line on how often it complained; "" if it never did.

    ``patient`` is the same script with more repetitions. If the script does not complain each time,
    ``patient`` is tried as well, and returned if it complains more often.
    """
    seen = _complaints(text, promise, runs)
    if patient and seen < runs:
        oftener = _complaints(patient, promise, runs)
        if oftener > seen:
            text, seen = patient, oftener
    return _marked(text, seen, runs) if seen else ""


def _complaints(text: str, promise: str, runs: int) -> int:
    seen = 0
    for run in range(1, runs + 1):
        seen += complains_alone(text, promise)
        if run >= _IN_VAIN and not seen:
            break
    return seen


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
