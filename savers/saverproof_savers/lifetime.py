"""Savers as sync and async context managers."""

import asyncio
from typing import Self


class Closing:
    """A context manager, ``with`` or ``async with``, that closes itself at the end of the block."""

    def close(self) -> None:
        """Release everything. Closing twice does nothing."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        # In a thread: closing waits for running work, which may wait for another process's lock.
        await asyncio.to_thread(self.close)
