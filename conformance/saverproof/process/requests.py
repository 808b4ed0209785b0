"""The requests to child processes, as typed values. Importing this runs no service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, Generic, Protocol, TypeVar

Data = TypeVar("Data")
Answer = TypeVar("Answer")
Progress = Callable[[dict[str, Any]], None]
"""A receiver of figures that tell how far a request has got."""


@dataclass(frozen=True, slots=True)
class Service:
    """A kind of child process: ``python -m module`` answers the requests that name it."""

    module: str


@dataclass(frozen=True, slots=True)
class Request(Generic[Data, Answer]):
    """A kind of request to a service.

    Data and answer travel as JSON. Dataclasses are converted by ``asdict``, and read back by
    ``read_data`` and ``read_answer``; everything else is sent unchanged.
    """

    service: Service
    name: str
    read_data: Callable[[Any], Data]
    read_answer: Callable[[Any], Answer]


class Child(Protocol):
    """An answerer of a service's requests: a process, or this process in its stead."""

    @property
    def closed(self) -> bool:
        """True if the child can answer no more requests."""

    def ask(
        self,
        request: Request[Data, Answer],
        data: Data,
        *,
        silence_s: float | None = None,
        limit_s: float | None = None,
        listener: Progress | None = None,
    ) -> Answer:
        """Return the answer to a request (see ``JudgeProcess.ask``)."""

    def take_output(self) -> str:
        """Return what the child printed since the last call."""

    def close(self) -> None:
        """End the child. Closing twice does nothing."""


@dataclass(slots=True)
class Handlers:
    """The functions that answer the requests of a service, in the process that serves them."""

    _functions: dict[str, tuple[Request[Any, Any], Callable[[Any, Progress], Any]]] = field(
        default_factory=dict
    )

    def add(
        self, request: Request[Data, Answer], function: Callable[[Data, Progress], Answer]
    ) -> None:
        """Let ``function`` answer a request: it gets the data and a receiver of progress."""
        self._functions[request.name] = (request, function)

    def answer(self, request: Request[Data, Answer], data: Data, progress: Progress) -> Answer:
        """Return the answer to a request that was made in this process."""
        answer: Answer = self._functions[request.name][1](data, progress)
        return answer

    def answer_json(self, name: str, data: Any, progress: Progress) -> Any:
        """Return the answer as JSON to a request that came as JSON."""
        request, function = self._functions[name]
        return as_json(function(request.read_data(data), progress))


def as_json(value: Any) -> Any:
    """Return the JSON form of a value."""
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def as_it_is(value: Any) -> Any:
    """Return a value that is the same in JSON."""
    return value
