"""What goes wrong in this package, and how an error raised on purpose is told from others."""


class FaultsError(Exception):
    """The fault layer could not do what it was asked; the message says what and why."""


class PlanError(FaultsError, ValueError):
    """A fault plan that makes no sense: which field, what was found, what was expected."""


class Unavailable(FaultsError):  # noqa: N818 - a state of this machine, not a mistake
    """Something that this machine or this Python does not offer; the message says why."""


class NotSettled(FaultsError):  # noqa: N818 - a state of the program, not a mistake
    """Work that was handed to threads is not done in time; it may still be."""


class HookFailed(FaultsError):  # noqa: N818 - named by what happened
    """A callback inside the engine raised: what was counted or failed since cannot be trusted."""


class InjectedFault:
    """Mixed into the class of every error that a driver is made to raise on purpose.

    ``isinstance(error, InjectedFault)`` tells such an error from one of the program's own. The
    other base is the class the driver would have raised, so that the program's handlers see it.
    """


_INJECTED: dict[type[BaseException], type[BaseException]] = {}


def injected(error_type: type[BaseException]) -> type[BaseException]:
    """A subclass of ``error_type`` that is an InjectedFault too, with the same name."""
    if error_type not in _INJECTED:
        bases = (error_type, InjectedFault)
        _INJECTED[error_type] = type(error_type.__name__, bases, {"__module__": __name__})
    return _INJECTED[error_type]


def was_injected(error: BaseException | None) -> bool:
    """Whether ``error``, or one it was raised from or while handling, was raised on purpose."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, InjectedFault):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False
