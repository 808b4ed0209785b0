"""Errors whose text is meant for the user: one line that says which input, what was found, what
was expected.
"""

import re

_LONGEST = 500
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


class SaverproofError(Exception):
    """A problem that the user can mend. Its text is one line."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))

    @property
    def message(self) -> str:
        """The one line."""
        return str(self.args[0])


class TargetError(SaverproofError):
    """A target that cannot be found, imported, or used as it is written."""


class OpeningError(TargetError):
    """A target whose function did not open a saver, or did not close it again.

    ``stage`` is "opening", "closing" or "dropping". ``details`` are the lines of the author's own
    code that led there, where they are known.
    """

    def __init__(self, message: str, stage: str = "opening", details: str = "") -> None:
        super().__init__(message)
        self.stage = stage
        self.details = details


class KnownFileError(SaverproofError):
    """A known-violations file that cannot be read or does not say what it must."""


class ExtensionError(SaverproofError):
    """Something that another distribution adds cannot be used."""


class JudgeError(SaverproofError):
    """Something broke in the kit itself. ``details`` is the traceback, for a bug report."""

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message)
        self.details = details


class NoCleanRunError(Exception):
    """A program does not work without a fault or a kill either; the text says how it ended."""


def one_line(text: str, longest: int = _LONGEST) -> str:
    """``text`` without line breaks, control characters or lone surrogates, cut to ``longest``
    characters.
    """
    flat = " ".join(_UNPRINTABLE.sub(" ", text[: 4 * longest]).split(" ")).strip()
    flat = re.sub(" {2,}", " ", flat)
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def describe(error: BaseException, longest: int = 300) -> str:
    """An exception as one line, whatever its ``__str__`` does."""
    name = type(error).__name__
    try:
        text = str(error)
    except Exception as worse:  # noqa: BLE001 - the exception is a stranger's, and its __str__ too
        text = f"<its text raised {type(worse).__name__}>"
    return one_line(f"{name}: {text}" if text else name, longest)
