"""Exceptions of this package, and the mark of those that are raised on purpose."""


class FaultsError(Exception):
    """The fault layer could not do what it was asked. The message says what and why."""


class PlanError(FaultsError, ValueError):
    """A fault plan makes no sense.

    The message names the field, what was found, and what was expected.
    """


class Unavailable(FaultsError):  # noqa: N818 - a state of this machine, not a mistake
    """This machine or this Python lacks something that is needed. The message says what."""


class NotSettled(FaultsError):  # noqa: N818 - a state of the program, not a mistake
    """Work that was handed to threads has not ended in time; it may still end."""


class HookFailed(FaultsError):  # noqa: N818 - named by what happened
    """A callback inside the database engine raised.

    Nothing that it counted or failed since can be trusted.
    """


class InjectedFault:
    """A mark in the class of every exception that is raised on purpose.

    ``isinstance(error, InjectedFault)`` tells such an exception from the program's own. Its other
    base is the class that the driver would have raised, so that the program handles it as usual.
    """


_INJECTED: dict[type[BaseException], type[BaseException]] = {}


def injected(error_type: type[BaseException]) -> type[BaseException]:
    """Return a subclass of ``error_type`` with the same name and the mark InjectedFault."""
    if error_type not in _INJECTED:
        bases = (error_type, InjectedFault)
        _INJECTED[error_type] = type(error_type.__name__, bases, {"__module__": __name__})
    return _INJECTED[error_type]


def was_injected(error: BaseException | None) -> bool:
    """Return whether ``error``, its cause or its context was raised on purpose."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, InjectedFault):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False
