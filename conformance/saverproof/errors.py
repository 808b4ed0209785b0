"""Errors whose text is one line for the user: which input, what was found, what was expected."""

import re

_LONGEST = 500
"""Characters of a message: some lines of a terminal."""
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


def kind_of(value: object) -> str:
    """Return the type of a value with its article, such as "an int"; None and a class as they
    are.
    """
    if value is None:
        return "None"
    name = "class" if isinstance(value, type) else type(value).__qualname__
    return f"an {name}" if name[0] in "AEIOaeio" else f"a {name}"


class SaverproofError(Exception):
    """A problem that the user can solve. Its text is one line."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))

    @property
    def message(self) -> str:
        """The text, which is one line."""
        return str(self.args[0])


class TargetError(SaverproofError):
    """A target cannot be found, imported, or used as it is written."""


class OpeningError(TargetError):
    """A target's function did not open a saver, or did not close it.

    ``stage`` is "opening", "closing" or "dropping". ``details`` are the lines of the author's own
    code that led there, if they are known.
    """

    def __init__(self, message: str, stage: str = "opening", details: str = "") -> None:
        super().__init__(message)
        self.stage = stage
        self.details = details


class KnownFileError(SaverproofError):
    """A known-violations file cannot be read, or an entry is wrong."""


class ReleaseError(SaverproofError):
    """An older release that cannot be named, found, installed or kept."""


class CorpusError(SaverproofError):
    """A corpus that cannot be written, read or judged."""


class ExtensionError(SaverproofError):
    """Something that another distribution adds cannot be used."""


class JudgeError(SaverproofError):
    """The kit itself failed. ``details`` is the traceback, for a bug report."""

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message)
        self.details = details


class NoCleanRunError(Exception):
    """A program fails even without a fault or a kill; the text says how it ended."""


def one_line(text: str, longest: int = _LONGEST) -> str:
    """Return ``text`` on one line, cut to ``longest`` characters.

    Line breaks, control characters and lone surrogates are replaced by spaces.
    """
    flat = " ".join(_UNPRINTABLE.sub(" ", text[: 4 * longest]).split(" ")).strip()
    flat = re.sub(" {2,}", " ", flat)
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def describe(error: BaseException, longest: int = 300) -> str:
    """Return an exception as one line, even if its ``__str__`` fails."""
    name = type(error).__name__
    try:
        text = str(error)
    except Exception as worse:  # noqa: BLE001 - the exception is a stranger's, and its __str__ too
        text = f"<its text raised {type(worse).__name__}>"
    return one_line(f"{name}: {text}" if text else name, longest)
