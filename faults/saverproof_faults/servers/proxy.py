"""A TCP proxy on loopback that cuts, delays or swallows data after so many bytes."""

import asyncio
import socket
import struct
import threading
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from saverproof_faults.servers.server import HOST

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
_PIECE = 1 << 16
"""Most bytes that are read at once."""


class Direction(StrEnum):
    """The direction in which bytes pass."""

    TO_SERVER = "to the server"
    TO_CLIENT = "to the client"


class NetworkHarm(StrEnum):
    """The harm that is done to a connection."""

    CUT = "both ends are reset"
    SWALLOW = "the bytes vanish, the connection stays"
    DELAY = "the bytes come late"


@dataclass(frozen=True, slots=True)
class NetworkFault:
    """A fault that strikes once ``after_bytes`` have passed in ``direction`` since it was armed.

    The bytes of all connections are counted together. No byte beyond them passes before the fault.
    ``delay_s`` belongs to DELAY.
    """

    harm: NetworkHarm
    direction: Direction
    after_bytes: int
    delay_s: float = 0.0

    def __post_init__(self) -> None:
        if self.after_bytes < 0:
            raise ValueError(f"a network fault counts bytes from 0, got {self.after_bytes}")


class TcpProxy:
    """A proxy that passes connections on to ``port``. While entered, it listens on ``self.port``.

    A connection whose bytes were swallowed is reset ``watchdog_s`` seconds later, so that a client
    without a time limit does not wait for ever. ``rescued`` counts these.
    """

    def __init__(self, port: int, *, watchdog_s: float = 10.0) -> None:
        self._target = port
        self._watchdog_s = watchdog_s
        self._lock = threading.Lock()
        self._fault: NetworkFault | None = None
        self._passed: Counter[Direction] = Counter()
        self.fired = 0
        """Number of times that the armed fault has struck: 0 or 1."""
        self.rescued = 0
        """Number of connections that the watchdog had to reset."""

    def __enter__(self) -> Self:
        self._listener = socket.create_server((HOST, 0))
        self.port = int(self._listener.getsockname()[1])
        self._serving = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="tcp-proxy", daemon=True)
        self._thread.start()
        self._serving.wait()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def turn_to(self, port: int) -> None:
        """Pass new connections on to another port from now on."""
        self._target = port

    def arm(self, fault: NetworkFault) -> None:
        """Let ``fault`` strike once. Bytes are counted from now on."""
        with self._lock:
            self._fault, self.fired = fault, 0
            self._passed.clear()

    def disarm(self) -> None:
        """Let all bytes pass, and count them from now on."""
        with self._lock:
            self._fault = None
            self._passed.clear()

    def passed(self, direction: Direction) -> int:
        """Return how many bytes have passed since the last ``arm`` or ``disarm``."""
        with self._lock:
            return self._passed[direction]

    def admit(self, direction: Direction, length: int) -> tuple[int, NetworkFault | None]:
        """Return how many of the next ``length`` bytes may pass, and which fault strikes then."""
        with self._lock:
            fault = self._fault
            if fault is None or self.fired or fault.direction is not direction:
                self._passed[direction] += length
                return length, None
            room = fault.after_bytes - self._passed[direction]
            if length < room:
                self._passed[direction] += length
                return length, None
            self._passed[direction] += room
            self.fired = 1
            return room, fault

    async def starve(self, reader: asyncio.StreamReader) -> None:
        """Read and drop bytes until the other end, or the watchdog, closes the connection."""
        try:
            async with asyncio.timeout(self._watchdog_s):
                while await reader.read(_PIECE):
                    pass
        except TimeoutError:
            with self._lock:
                self.rescued += 1

    def _serve(self) -> None:
        asyncio.run(self._main())

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        links: set[asyncio.Task[None]] = set()

        def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            link = asyncio.ensure_future(self._link(reader, writer))
            links.add(link)
            link.add_done_callback(links.discard)

        server = await asyncio.start_server(accepted, sock=self._listener)
        self._serving.set()
        await self._stop.wait()
        server.close()
        for link in links:
            link.cancel()
        await asyncio.gather(*links, return_exceptions=True)

    async def _link(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers = [writer]
        try:
            there, onwards = await asyncio.open_connection(HOST, self._target)
            writers.append(onwards)
            async with asyncio.TaskGroup() as pumps:
                pumps.create_task(_pump(self, Direction.TO_SERVER, reader, onwards))
                pumps.create_task(_pump(self, Direction.TO_CLIENT, there, writer))
        except (OSError, ExceptionGroup):
            # Both ends hear of the end in one way, whether a fault, an end or a missing server
            # caused it.
            for one in writers:
                _reset(one)
        finally:
            for one in writers:
                one.close()


class _Cut(Exception):  # noqa: N818 - an event, not a mistake
    pass


async def _pump(
    proxy: TcpProxy,
    direction: Direction,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    while data := await reader.read(_PIECE):
        admitted, fault = proxy.admit(direction, len(data))
        writer.write(data[:admitted])
        await writer.drain()
        if fault is None:
            continue
        if fault.harm is NetworkHarm.CUT:
            raise _Cut
        if fault.harm is NetworkHarm.SWALLOW:
            await proxy.starve(reader)
            raise _Cut
        await asyncio.sleep(fault.delay_s)
        proxy.admit(direction, len(data) - admitted)
        writer.write(data[admitted:])
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


def _reset(writer: asyncio.StreamWriter) -> None:
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
    writer.transport.abort()
