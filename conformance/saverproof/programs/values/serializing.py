"""Finds the values that a saver's own serializer keeps."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from saverproof.programs.values.comparison import same
from saverproof.programs.values.value import Value

_silence = Lock()
_verdicts: WeakKeyDictionary[Any, dict[Value, bool]] = WeakKeyDictionary()


def roundtrips(serde: Any, value: Value) -> bool:
    """Return whether the serializer gives the value back equal and of the same type.

    It must do so for the value alone and inside a dict. Return False if it raises, or if this
    machine cannot make the value. The result is kept for each serializer; nothing is logged or
    warned.
    """
    try:
        verdicts = _verdicts.setdefault(serde, {})
    except TypeError:  # neither hashable nor weakly referable: nothing to remember it by
        return _check(serde, value)
    verdict = verdicts.get(value)
    if verdict is None:
        verdict = verdicts[value] = _check(serde, value)
    return verdict


def refuses(serde: Any, value: Value) -> bool:
    """Return whether the serializer raises for the value, both alone and inside a dict."""
    return _raises(serde, value.make()) and _raises(serde, {"value": value.make()})


def _check(serde: Any, value: Value) -> bool:
    with _quiet():
        try:
            alone = serde.loads_typed(serde.dumps_typed(value.make()))
            inside = serde.loads_typed(serde.dumps_typed({"value": value.make()}))
        except Exception:  # noqa: BLE001 (a serializer of anyone's; to raise is an answer)
            return False
    return same(value.make(), alone) and same({"value": value.make()}, inside)


def _raises(serde: Any, made: Any) -> bool:
    with _quiet():
        try:
            serde.dumps_typed(made)
        except Exception:  # noqa: BLE001 (a serializer of anyone's; to raise is an answer)
            return True
    return False


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the warning that LangGraph's serializer logs for each class it does not know."""
    with _silence, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        disabled = logging.root.manager.disable
        logging.disable(logging.CRITICAL)
        try:
            yield
        finally:
            logging.disable(disabled)
