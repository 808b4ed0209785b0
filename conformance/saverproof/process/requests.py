"""What child processes are asked to do: typed values that both sides import, and nothing runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, Generic, Protocol, TypeVar

Data = TypeVar("Data")
Answer = TypeVar("Answer")
Progress = Callable[[dict[str, Any]], None]
"""Takes figures that tell how far a request is."""


@dataclass(frozen=True, slots=True)
class Service:
    """One sort of child process: ``python -m module`` answers the requests that name it."""

    module: str


@dataclass(frozen=True, slots=True)
class Request(Generic[Data, Answer]):
    """One thing that a service can be asked for.

    Data and answer travel as JSON: dataclasses by ``asdict`` and the two readers, all else as it
    is.
    """

    service: Service
    name: str
    read_data: Callable[[Any], Data]
    read_answer: Callable[[Any], Answer]


class Child(Protocol):
    """Who answers the requests of a service: a process, or this one in its stead."""

    @property
    def closed(self) -> bool:
        """Whether it can be asked no more."""

    def ask(
        self,
        request: Request[Data, Answer],
        data: Data,
        *,
        silence_s: float | None = None,
        limit_s: float | None = None,
        listener: Progress | None = None,
    ) -> Answer:
        """The answer to a request (see ``JudgeProcess.ask``)."""

    def take_output(self) -> str:
        """What it printed since the last call."""

    def close(self) -> None:
        """End it. Closing twice is fine."""


@dataclass(slots=True)
class Handlers:
    """The functions that answer the requests of a service, in the process that serves them."""

    _functions: dict[str, tuple[Request[Any, Any], Callable[[Any, Progress], Any]]] = field(
        default_factory=dict
    )

    def add(
        self, request: Request[Data, Answer], function: Callable[[Data, Progress], Answer]
    ) -> None:
        """Have a request answered by a function of its data and of who is told of progress."""
        self._functions[request.name] = (request, function)

    def answer(self, request: Request[Data, Answer], data: Data, progress: Progress) -> Answer:
        """The answer to a request that was made in this process."""
        answer: Answer = self._functions[request.name][1](data, progress)
        return answer

    def answer_json(self, name: str, data: Any, progress: Progress) -> Any:
        """The answer, as JSON, to a request that came as JSON."""
        request, function = self._functions[name]
        return as_json(function(request.read_data(data), progress))


def as_json(value: Any) -> Any:
    """What is sent for a value."""
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def as_it_is(value: Any) -> Any:
    """Reads what is JSON in itself."""
    return value
