"""Savers as context managers of both kinds."""

import asyncio
from typing import Self


class Closing:
    """Closed when its block ends, be it ``with`` or ``async with``."""

    def close(self) -> None:
        """Release everything; harmless twice."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        # In a thread: it waits for what runs, and that may wait for another process's lock.
        await asyncio.to_thread(self.close)
