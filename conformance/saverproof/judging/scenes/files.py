"""The scene of looking at a workspace's files: who may read them, and whether they are
encrypted.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import ClassVar

from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from saverproof.contracts.contract import Contract
from saverproof.contracts.tables import isolation, serialization
from saverproof.judging import facts
from saverproof.judging.context import Context
from saverproof.judging.facts import Difference, Fact, Raised
from saverproof.judging.scenes.scene import Scene
from saverproof.programs.model.store import Model
from saverproof.programs.operations import OPERATIONS
from saverproof.programs.steps.definitions import Put, PutWrites, Step
from saverproof.programs.theme import Theme
from saverproof.programs.values import Value
from saverproof.savers.execution.calls import put_call
from saverproof.savers.execution.settled_calls import Calls
from saverproof.savers.execution.store import Store
from saverproof.scripts.complaints import compare
from saverproof.scripts.statements import write
from saverproof.scripts.writer import ScriptWriter

_SECRETS = {
    "root": Value("text", "aardvark"),
    "raw": Value("bytes", 4_000_000_000),
}
_WRITTEN_SECRET = Value("text", "cormorant")
_WITH_SECRETS = (
    Put("a", "", 1, changes=tuple(_SECRETS.items())),
    PutWrites("a", "", 1, 1, (("root", _WRITTEN_SECRET),)),
)


_MODE = Fact("mode", "others may read what the saver stores")
_PLAINTEXT = Fact("plaintext", "secrets can be read in the files")


@dataclass(frozen=True, slots=True)
class CheckFiles(Scene):
    """A look at the files of the workspace: ``encrypted`` for plaintext, ``private`` for modes."""

    look_for: str

    about: ClassVar[Contract] = isolation.PRIVATE_FILES

    @property
    def contract(self) -> Contract:
        return self.about if self.look_for == "private" else serialization.ENCRYPTED_AT_REST

    @staticmethod
    def make_private(model: Model, choose: Random, theme: Theme) -> CheckFiles:
        """Look at who may read the files of the workspace."""
        del model, choose, theme
        return CheckFiles("private")

    @staticmethod
    def make_encrypted(model: Model, choose: Random, theme: Theme) -> CheckFiles:
        """Look for plaintext in the files of a store whose serializer encrypts."""
        del model, choose, theme
        return CheckFiles("encrypted")

    def words(self) -> str:
        return f"look at the files of the workspace: {self.look_for}"

    # --- on the saver ------------------------------------------------------------------------

    def play(self, context: Context) -> None:
        if self.look_for == "private":
            self._look_at_modes(context)
        else:
            self._look_for_secrets(context)

    def _look_at_modes(self, context: Context) -> None:
        put = OPERATIONS["put"]
        assert isinstance(put, Put)

        def store() -> None:
            planned = context.model.plan_put(put, context.next_version)
            context.driver.put(put_call(put, planned, context.real("a")))

        answer = context.attempt(store)
        if isinstance(answer, Raised):
            context.facts.differ(facts.RAISED, None, "the checkpoint's config", answer)
            return
        for path in _files_below(context.store.workspace.path):
            mode = stat.S_IMODE(path.stat().st_mode)
            shown = f"{path.name}: {mode:04o}"
            self.compare(context, _MODE, None, f"{path.name}: {mode & 0o700:04o}", shown)

    def _look_for_secrets(self, context: Context) -> None:
        own = context.store
        with Store(own.target, own.folder, own.loop, own.apis[:1]) as other:
            other.saver.serde = EncryptedSerializer(_Cipher(), other.saver.serde)
            calls = Calls(context.next_version)
            for step in _WITH_SECRETS:
                answer = context.attempt(partial(calls.make, other.drivers[0], step))
                if isinstance(answer, Raised):
                    other.close()
                    expected = "the secrets to be stored"
                    context.facts.differ(facts.RAISED, None, expected, answer)
                    return
            # Only after closing is all data sure to be in the files.
            other.close()
            files = list(_files_below(other.workspace.path))
            found = [
                f"{secret.make()!r} in {path.name}"
                for path in files
                for secret in (*_SECRETS.values(), _WRITTEN_SECRET)
                if _as_bytes(secret) in path.read_bytes()
            ]
            if files:
                self.compare(context, _PLAINTEXT, None, [], found)

    # --- in scripts --------------------------------------------------------------------------

    def write(self, writer: ScriptWriter) -> None:
        if self.look_for == "private":
            write(OPERATIONS["put"], writer)
            return
        writer.helpers.add("cipher")
        writer.say("saver.serde = EncryptedSerializer(Cipher(), saver.serde)")
        for step in _WITH_SECRETS:
            write(step, writer)

    def show(self, writer: ScriptWriter, last: Step, difference: Difference) -> None:
        self.write(writer)
        files = 'file for file in Path(path).rglob("*") if file.is_file()'
        if self.look_for == "private":
            writer.say(f"modes = {{file.name: file.stat().st_mode & 0o777 for file in [{files}]}}")
            wrong = "{name: oct(mode) for name, mode in modes.items() if mode & 0o077}"
            compare(writer, wrong, "{}", "observed")
            return
        writer.close()
        secrets = tuple(map(_as_bytes, (*_SECRETS.values(), _WRITTEN_SECRET)))
        writer.say(
            f'stored = b"".join(file.read_bytes() for {files.removeprefix("file for ")})',
            f"secrets = {secrets}",
        )
        compare(writer, "[secret for secret in secrets if secret in stored]", "[]", "observed")


def _files_below(folder: Path) -> Iterator[Path]:
    """Return the regular files below a folder, in a fixed order."""
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())


def _as_bytes(secret: Value) -> bytes:
    """Return the bytes of a value that are searched for in the files."""
    plain = secret.make()
    return plain if isinstance(plain, bytes) else str(plain).encode()


class _Cipher:
    """A stream cipher for tests: it hides a word from a search, and protects nothing."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "saverproof", _mixed(plaintext)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        return _mixed(ciphertext)


def _mixed(data: bytes) -> bytes:
    blocks = (len(data) + 31) // 32
    stream = b"".join(hashlib.sha256(n.to_bytes(8, "big")).digest() for n in range(blocks))
    return bytes(a ^ b for a, b in zip(data, stream, strict=False))
