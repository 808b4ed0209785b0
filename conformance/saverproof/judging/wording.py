"""Puts a difference into a sentence that someone understands who does not know the kit."""

from __future__ import annotations

from typing import Any

from saverproof.judging.session import Raised
from saverproof.judging.sheet import Difference
from saverproof.values import show

_FACTS = {
    "accepted": "it is accepted, and should be refused",
    "address": "the answer names another checkpoint",
    "channels": "other channels are answered for than were asked about",
    "count": "not everything that was stored is there",
    "delta": "a channel that is stored as changes is rebuilt wrongly",
    "extra": "something is there that should not be",
    "form": "another form of the same question is answered otherwise",
    "hang": "the call never comes back",
    "history": "the history of a channel is not what was stored",
    "kept": "older checkpoints are kept",
    "latest": "another checkpoint is taken for the latest",
    "limit": "a limited listing is not the start of the whole one",
    "malformed": "the answer is no checkpoint",
    "metadata": "metadata is not as it was stored",
    "missing": "a checkpoint is missing",
    "mode": "others may read what the saver stores",
    "order": "the order is another",
    "pages": "pages do not make up the whole listing",
    "parent": "the parent is another",
    "plaintext": "secrets can be read in the files",
    "put": "storing it changes what is stored elsewhere",
    "returned": "put returns the address of another checkpoint",
    "seen": "what is stored elsewhere is seen",
    "selection": "a listing selects other checkpoints than it should",
    "unreadable": "it cannot be read any more",
    "version": "a new channel version is not greater than the one before",
    "write:extra": "a pending write is shown that should not be",
    "write:foreign": "a pending write of another checkpoint is shown",
    "write:missing": "a pending write is missing",
    "write:order": "pending writes come in another order",
    "write:twice": "a pending write is shown twice",
    "write:value": "a pending write has another value",
}


def fact_in_words(difference: Difference) -> str:
    """What is wrong, without where."""
    if isinstance(difference.observed, Raised):
        return f"a call raised {type(difference.observed.error).__name__}"
    kind, _, name = difference.fact.partition(":")
    if kind == "value":
        return f"channel {name!r} has another value"
    if kind == "input":
        return f"the saver changed its argument {name!r}"
    return _FACTS.get(difference.fact, difference.fact)


def shown(difference: Difference, width: int) -> tuple[str, str]:
    """What was expected and what was observed, each cut to ``width``."""
    return _text(difference.expected, difference, width), _text(
        difference.observed, difference, width
    )


def _text(value: Any, difference: Difference, width: int) -> str:
    if isinstance(value, Raised):
        return str(value)[:width]
    # Where a call raised or never came back, what was expected is said in words.
    in_words = isinstance(difference.observed, Raised) or difference.fact == "hang"
    if in_words and isinstance(value, str):
        return value[:width]
    return show(value, width)
