"""The values of options and of the project's table: names to choose from, and times."""

import argparse

PROFILES = ("quick", "default", "deep")
APIS = ("both", "sync", "async")

_UNITS_S = {"s": 1.0, "m": 60.0, "h": 3_600.0}


def duration(text: str) -> float:
    """Return the seconds in a time such as 90s, 10m or 2h.

    Raises:
        argparse.ArgumentTypeError: the text is no such time.
    """
    number, unit = (text[:-1], text[-1:]) if text[-1:] in _UNITS_S else (text, "s")
    try:
        return seconds(number) * _UNITS_S[unit]
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(
            f"found {text!r}, expected a time above 0 such as 90s, 10m or 2h"
        ) from None


def seconds(text: str) -> float:
    """Return a number of seconds above 0.

    Raises:
        argparse.ArgumentTypeError: the text is no such number.
    """
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a number of seconds above 0")
    return number
