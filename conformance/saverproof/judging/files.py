"""Looks at the files that a saver leaves in its workspace."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from saverproof.execution.calls import put_call, put_writes_call
from saverproof.execution.store import Store
from saverproof.judging import facts
from saverproof.judging.context import Context
from saverproof.judging.facts import Raised
from saverproof.model.store import Model
from saverproof.steps.definitions import CheckFiles, Put, PutWrites
from saverproof.values import Value

SECRETS = {
    "root": Value("text", "aardvark"),
    "raw": Value("bytes", 4_000_000_000),
}
WRITTEN_SECRET = Value("text", "cormorant")


def take_check_files(step: CheckFiles, context: Context) -> None:
    if step.look_for == "private":
        _judge_modes(context)
    else:
        _judge_encryption(context)


def _judge_modes(context: Context) -> None:
    put = Put("a", "", 1, changes=(("count", Value("integer", 1)),))

    def store() -> None:
        planned = context.model.plan_put(put, context.next_version)
        context.driver.put(put_call(put, planned, context.real("a")))

    answer = context.attempt(store)
    if isinstance(answer, Raised):
        context.facts.differ(facts.RAISED, None, "the checkpoint's config", answer)
        return
    for path in files_below(context.store.workspace.path):
        mode = stat.S_IMODE(path.stat().st_mode)
        shown = f"{path.name}: {mode:04o}"
        expected = f"{path.name}: {mode & 0o700:04o}"
        context.facts.compare(facts.MODE, None, expected, shown)


def files_below(folder: Path) -> Iterator[Path]:
    """The regular files of a workspace, in a settled order."""
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())


def _judge_encryption(context: Context) -> None:
    own = context.store
    with Store(own.target, own.folder, own.loop, own.apis[:1]) as other:
        other.saver.serde = encrypted_serializer(other.saver.serde)
        answer = context.attempt(lambda: _store_secrets(context, other))
        other.close()
        if isinstance(answer, Raised):
            context.facts.differ(facts.RAISED, None, "the secrets to be stored", answer)
            return
        found = [
            f"{secret.make()!r} in {path.name}"
            for path in files_below(other.workspace.path)
            for secret in (*SECRETS.values(), WRITTEN_SECRET)
            if as_bytes(secret) in path.read_bytes()
        ]
        if any(files_below(other.workspace.path)):
            context.facts.compare(facts.PLAINTEXT, None, [], found)


def as_bytes(secret: Value) -> bytes:
    """What to look for in the files."""
    plain = secret.make()
    return plain if isinstance(plain, bytes) else str(plain).encode()


def _store_secrets(context: Context, store: Store) -> None:
    driver = store.drivers[0]
    put = Put("a", "", 1, changes=tuple(SECRETS.items()))
    planned = Model().plan_put(put, context.next_version)
    driver.put(put_call(put, planned, "a"))
    batch = PutWrites("a", "", 1, 1, (("root", WRITTEN_SECRET),))
    driver.put_writes(put_writes_call(batch, "a"))


class _Cipher:
    """A stream cipher good enough to hide a word from a search; it protects nothing else."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "saverproof", _mixed(plaintext)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        return _mixed(ciphertext)


def _mixed(data: bytes) -> bytes:
    blocks = (len(data) + 31) // 32
    stream = b"".join(hashlib.sha256(n.to_bytes(8, "big")).digest() for n in range(blocks))
    return bytes(a ^ b for a, b in zip(data, stream, strict=False))


def encrypted_serializer(serde: Any) -> Any:
    """LangGraph's ``EncryptedSerializer`` around a serializer."""
    return EncryptedSerializer(_Cipher(), serde)
