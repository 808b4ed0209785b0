"""Source text by which a script calls a saver, through its sync or its async methods."""

from __future__ import annotations

from dataclasses import dataclass

from saverproof.savers.execution.driver import writer_at

APIS = ("sync", "async")


@dataclass(frozen=True, slots=True)
class CallSource:
    """A writer of calls; ``api`` is "sync", "async" or "crossed".

    ``managed`` says that opening is asynchronous. A script is a coroutine if it awaits anything.
    Sync calls are then made in another thread, as the kit makes them: a saver may refuse them in
    the event loop's thread.
    """

    api: str
    managed: bool

    @property
    def in_coroutine(self) -> bool:
        """True if the script's calls are inside a coroutine."""
        return self.managed or self.api != "sync"

    @property
    def wait(self) -> str:
        """The keyword before calls of the script's own functions, or ""."""
        return "await " if self.in_coroutine else ""

    @property
    def define(self) -> str:
        """The keywords by which the script's own functions begin."""
        return "async def" if self.in_coroutine else "def"

    def on_turn(self, turn: int) -> str:
        """Return the API of a turn: a crossed script writes by one and then by the other."""
        return APIS[writer_at(turn, 2)] if self.api == "crossed" else self.api

    def beside(self, api: str) -> str:
        """Return the other API in a crossed script, else ``api`` itself."""
        return APIS[APIS.index(api) - 1] if self.api == "crossed" else api

    def function(self, name: str, *arguments: str) -> str:
        """Return a call of one of the script's own functions, in another thread if it makes sync
        calls.
        """
        if self.api == "sync" and self.managed:
            return f"await asyncio.to_thread({', '.join((name, *arguments))})"
        return f"{self.wait}{name}({', '.join(arguments)})"

    def call(self, api: str, receiver: str, operation: str, *arguments: str) -> str:
        """Return a call of an operation, as an expression."""
        given = ", ".join(arguments)
        if api == "async":
            return f"await {receiver}.a{operation}({given})"
        if self.in_coroutine:
            return f"await asyncio.to_thread({', '.join((f'{receiver}.{operation}', *arguments))})"
        return f"{receiver}.{operation}({given})"

    def listing(self, api: str, receiver: str, *arguments: str, item: str = "found") -> str:
        """Return a listing as an expression for the list of its items.

        ``item`` is the expression for one of them, which is called ``found``.
        """
        given = ", ".join(arguments)
        if api == "async":
            return f"[{item} async for found in {receiver}.alist({given})]"
        source = f"{receiver}.list({given})"
        items = f"list({source})" if item == "found" else f"[{item} for found in {source}]"
        return f"await asyncio.to_thread(lambda: {items})" if self.in_coroutine else items

    def first(self, api: str, receiver: str, *arguments: str) -> list[str]:
        """Return statements that leave a listing after its first item. A sync listing is left by
        the script's own function ``left_first``.
        """
        given = ", ".join(arguments)
        if api == "async":
            return [f"async for found in {receiver}.alist({given}):", "    break"]
        left = f"left_first(lambda: {receiver}.list({given}))"
        if self.in_coroutine:
            left = f"await asyncio.to_thread(left_first, lambda: {receiver}.list({given}))"
        return [left]
