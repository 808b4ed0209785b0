"""Serializers to which a store is changed.

The process of a release runs this text, so it imports nothing of the kit. It imports nothing of
LangGraph either: a serializer or cipher only needs the right methods.
"""

from __future__ import annotations

import hashlib
import io
import json
import pickle
from typing import Any

NEVER_ENCRYPTED = "these bytes were never encrypted"
"""What the cipher says of bytes that are not its own: they were stored with a type that names no
cipher, so that whoever had them decrypted has lost the type.
"""
_NAME = "saverproof"
_MARK = b"\xc1saverproof"
"""What all encrypted bytes begin with. No msgpack begins with its first byte."""


class TryingCipher:
    """A cipher for trials: it tells its own bytes from all others, and protects nothing."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        """Return the cipher's name, and the plaintext with a mark and a checksum, not readable."""
        return _NAME, _MARK + self._checksum(plaintext) + self._mixed(plaintext)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        """Return what was encrypted.

        Raises:
            ValueError: the bytes were not encrypted by this cipher and with this key.
        """
        if ciphername != _NAME:
            raise ValueError(f"found the cipher {ciphername!r}, expected {_NAME!r}")
        if not ciphertext.startswith(_MARK):
            raise ValueError(NEVER_ENCRYPTED)
        start = len(_MARK) + hashlib.sha256().digest_size
        plaintext = self._mixed(ciphertext[start:])
        if ciphertext[len(_MARK) : start] != self._checksum(plaintext):
            raise ValueError("these bytes were encrypted with another key")
        return plaintext

    def _checksum(self, plaintext: bytes) -> bytes:
        return hashlib.sha256(self._key + plaintext).digest()

    def _mixed(self, data: bytes) -> bytes:
        stream = hashlib.shake_256(self._key).digest(len(data))
        return bytes(a ^ b for a, b in zip(data, stream, strict=True))


class JsonSerializer:
    """A serializer that can take JSON only. Its type is the one with which LangGraph stored values
    before it had msgpack.
    """

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Return JSON.

        Raises:
            TypeError: JSON cannot hold the value.
        """
        return "json", json.dumps(obj).encode()

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Return the value.

        Raises:
            ValueError: it is of another type.
        """
        kind, text = data
        if kind != "json":
            raise ValueError(f"found the type {kind!r}, expected 'json'")
        return json.loads(text)


class PickleSerializer:
    """A serializer that pickles every value, as LangGraph's serializer does if msgpack fails and a
    fallback is allowed.
    """

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Return a pickle."""
        return "pickle", pickle.dumps(obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Return the value.

        Raises:
            ValueError: it is of another type, or more than plain data.
        """
        kind, pickled = data
        if kind != "pickle":
            raise ValueError(f"found the type {kind!r}, expected 'pickle'")
        return _DataAlone(io.BytesIO(pickled)).load()


class _DataAlone(pickle.Unpickler):
    """Reads pickles of plain data. If a pickle names a class or a function, it is refused and runs
    nothing.
    """

    def find_class(self, module_name: str, global_name: str) -> Any:
        raise ValueError(f"found {module_name}.{global_name} in a pickle, expected plain data")
