"""The wrong savers of the concurrency family, as targets that processes of their own can find."""

from __future__ import annotations

from types import SimpleNamespace

from tests.reference.state_file import StateFileReference
from tests.wrong_savers import WRONG, WrongSaver

from saverproof import target
from saverproof.mistakes.reference.saver import ReferenceSaver

CONCURRENT = [wrong for wrong in WRONG if wrong.breaks.startswith("concurrency/")]


def attribute_of(wrong: WrongSaver) -> str:
    return wrong.name.replace("-", "_")


def is_durable(wrong: WrongSaver) -> bool:
    in_a_file = issubclass(wrong.saver, StateFileReference)
    return in_a_file or not issubclass(wrong.saver, ReferenceSaver)


SAVERS = SimpleNamespace(
    **{
        attribute_of(wrong): target(name=wrong.name, drop=wrong.drop, durable=is_durable(wrong))(
            wrong.make
        )
        for wrong in CONCURRENT
    }
)
