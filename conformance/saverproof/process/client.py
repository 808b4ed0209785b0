"""The pytest side of the judge process: start it, ask it, notice its hang or death, end it."""

import fcntl
import os
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import ExitStack
from dataclasses import replace
from typing import IO, Any, Self

from saverproof import errors
from saverproof.errors import JudgeError, OpeningError, SaverproofError
from saverproof.process.channel import Message, MessageChannel
from saverproof.process.environment import Setting
from saverproof.process.forks import start
from saverproof.process.heartbeat import Heartbeat
from saverproof.process.requests import Answer, Data, Progress, Request, Service, as_json
from saverproof.process.scratch import temporary_folder
from saverproof.process.server import STACKS_SIGNAL
from saverproof.process.silence import CUT_OFF_AFTER, Silence, SilenceEnding

_POLL_S = 0.1
"""Seconds between two looks at the heartbeat: far less than any patience, and hardly any work."""
_TAIL = 4096
"""Bytes of the child's output that are kept: what went wrong stands at its end."""
_STACKS = 16384
"""Most bytes of stacks that are read: a report shows them in full."""
_REASONS = {
    SilenceEnding.HUNG: "no answer after {0:g} s",
    SilenceEnding.CUT_OFF: "cut off after {1:g} s without an answer, while it was still at work",
}

Listener = Progress


class JudgeGone(Exception):  # noqa: N818 - not always an error: savers are expected to do this
    """The judge process died, hung or was cut off while it worked on a request. It no longer
    exists.

    ``reason`` says in a few words how it ended. ``stacks`` shows where each thread was, as far as
    that could be found out. ``output`` is the end of what it printed. ``step`` is the number that
    the last ``beat`` named. ``hung`` is True if a call of the saver had not returned, and nothing
    moved. ``cut_off`` is True if the process was still at work: nothing is known of the saver then.
    """

    def __init__(self, reason: str, stacks: str, output: str, step: int) -> None:
        super().__init__(reason)
        self.hung = False
        self.cut_off = False
        self.reason = reason
        self.stacks = stacks
        self.output = output
        self.step = step


class JudgeProcess:
    """A child process that works on one request at a time. It dies with this process.

    Its temporary files, which savers may leave behind, are in a folder that is removed with it.
    """

    def __init__(self, setting: Setting, service: Service) -> None:
        # Both live as long as the child, and leave nothing on disk.
        self._stacks: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        # Appending, so that cutting the file off between two items leaves no hole.
        fcntl.fcntl(self._output, fcntl.F_SETFL, os.O_APPEND)
        self._heartbeat, beats_file = Heartbeat.create()
        with ExitStack() as folder:
            temporary = folder.enter_context(temporary_folder(setting.token))
            self._setting = replace(setting, temporary=str(temporary))
            ours, theirs = socket.socketpair()
            try:
                served = (theirs.fileno(), beats_file, self._stacks.fileno())
                self._process = start(service, self._output.fileno(), served)
            finally:
                theirs.close()
                os.close(beats_file)
            self._folder = folder.pop_all()
        self._channel = MessageChannel(ours)
        self._started = False

    @property
    def pid(self) -> int:
        """The process id. It can still be read after the process has ended."""
        return self._process.pid

    @property
    def closed(self) -> bool:
        """True if the child has been ended."""
        return self._output.closed

    def ask(
        self,
        request: Request[Data, Answer],
        data: Data,
        *,
        silence_s: float | None = None,
        limit_s: float | None = None,
        listener: Listener | None = None,
    ) -> Answer:
        """Let the child answer a request of its service, and return the answer.

        Args:
            request: the kind of request.
            data: the argument of the request.
            silence_s: seconds without a beat or a progress message after which the child counts as
                hung, if nothing moved in it either. A child that is still at work is cut off after
                six times as many.
            limit_s: seconds after which the child counts as hung in any case.
            listener: called with each progress message.

        Raises:
            JudgeGone: the child died, hung or was cut off. This object is closed then.
            SaverproofError: the child refused the work. The error has the class that the child
                raised.
            JudgeError: the kit is at fault: the work raised something unexpected, or the child fell
                silent although the saver had answered.
        """
        if not self._started:
            self._started = True
            # Starting Python is no fault of a saver, so it has its own, generous limit.
            self._exchange({"setting": self._setting.to_json()}, None, 60.0, None)
        message = {"request": request.name, "data": as_json(data)}
        return request.read_answer(self._exchange(message, silence_s, limit_s, listener))

    def _exchange(
        self,
        request: Message,
        silence_s: float | None,
        limit_s: float | None,
        listener: Listener | None,
    ) -> Any:
        try:
            self._channel.send(request)
            message = self._wait(silence_s, limit_s, listener)
        except (EOFError, OSError):
            raise self._died() from None
        except JudgeGone:
            raise
        except BaseException:
            # Ctrl-C, or a time limit of somebody else's: the answer will not be waited for.
            self.close()
            raise
        if "refusal" in message:
            raise _refusal(message["refusal"])
        if "failure" in message:
            details = message["failure"]
            raise JudgeError(f"{request['request']}: {details.strip().splitlines()[-1]}", details)
        return message["answer"]

    def _wait(
        self, silence_s: float | None, limit_s: float | None, listener: Listener | None
    ) -> Message:
        total = 0.0
        silence = None if silence_s is None else Silence(self.pid, silence_s)
        beats, _ = self._heartbeat.read()
        while True:
            before = time.monotonic()
            message = self._channel.receive(_POLL_S)
            # If this process was itself suspended, the child was too: no single wait counts for
            # much.
            waited = min(time.monotonic() - before, 5 * _POLL_S)
            total += waited
            now, _ = self._heartbeat.read()
            alive = message is not None or now != beats
            beats = now
            if message is not None and "progress" not in message:
                return message
            if message is not None and listener is not None:
                listener(message["progress"])
            if silence is not None and alive:
                silence.end()
            elif silence is not None and (ending := silence.last(waited)) is not None:
                raise self._silent(silence.patience_s, ending)
            if limit_s is not None and total >= limit_s:
                raise self._ended(_REASONS[SilenceEnding.HUNG].format(limit_s))

    def _silent(self, seconds: float, ending: SilenceEnding) -> JudgeGone | JudgeError:
        """Blame the silence on the saver if one of its calls has not returned, else on the kit."""
        answered = self._heartbeat.answered
        gone = self._ended(_REASONS[ending].format(seconds, CUT_OFF_AFTER * seconds))
        gone.hung = ending is SilenceEnding.HUNG
        gone.cut_off = ending is SilenceEnding.CUT_OFF
        if not answered:
            return gone
        if gone.cut_off:
            return JudgeError(f"the judge itself was {gone.reason}", gone.stacks)
        return JudgeError(f"the judge itself gave no sign of life for {seconds:g} s", gone.stacks)

    def _ended(self, reason: str) -> JudgeGone:
        """End a child that is still alive, and return the error with the stacks of its threads."""
        self._process.send_signal(STACKS_SIGNAL)
        deadline = time.monotonic() + 1.0
        size, before = os.fstat(self._stacks.fileno()).st_size, -1
        while time.monotonic() < deadline and (size == 0 or size != before):
            # Wait until the file stops growing: faulthandler tells nobody that it is done.
            time.sleep(0.03)
            before, size = size, os.fstat(self._stacks.fileno()).st_size
        return self._gone(reason)

    def _died(self) -> JudgeGone:
        try:
            status = self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            # It closed its end of the socket but lives on.
            status = None
        return self._gone(_how_it_died(status))

    def _gone(self, reason: str) -> JudgeGone:
        stacks = os.pread(self._stacks.fileno(), _STACKS, 0).decode("utf-8", "replace")
        gone = JudgeGone(reason, _theirs(stacks), self.take_output(), self._heartbeat.read()[1])
        self.close()
        return gone

    def take_output(self) -> str:
        """Return what the child printed since the last call, at most the last 4 kB."""
        if self._output.closed:
            return ""
        size = os.fstat(self._output.fileno()).st_size
        text = os.pread(self._output.fileno(), _TAIL, max(0, size - _TAIL))
        os.ftruncate(self._output.fileno(), 0)
        return text.decode("utf-8", "replace")

    def close(self) -> None:
        """End the child and everything that it started. Closing twice does nothing."""
        if self._output.closed:
            return
        self._process.bury()
        self._channel.close()
        self._heartbeat.close()
        self._stacks.close()
        self._output.close()
        self._folder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


def _theirs(stacks: str) -> str:
    """Return the stacks without the frames of the judge process's own machinery."""
    package = os.path.dirname(os.path.dirname(__file__))
    ours = (os.path.dirname(__file__), "<frozen runpy>")
    return "\n".join(
        line
        for line in stacks.splitlines()
        if not any(place in line for place in ours)
        and not (package in line and '/__main__.py"' in line)
    )


def _how_it_died(status: int | None) -> str:
    if status is None:
        return "the process closed its connection"
    if status < 0:
        try:
            return f"the process died: {signal.Signals(-status).name}"
        except ValueError:
            return f"the process died: signal {-status}"
    return f"the process ended itself with status {status}"


def _refusal(refusal: dict[str, str]) -> SaverproofError:
    kind = getattr(errors, refusal["kind"], SaverproofError)
    error: SaverproofError = kind(refusal["message"])
    if isinstance(error, OpeningError):
        error.details = refusal["details"]
    return error
