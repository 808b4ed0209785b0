"""An exception of botocore that can be made from a message alone, for faults in its calls."""

from botocore.exceptions import ClientError


class InternalServerError(ClientError):  # type: ignore[misc]
    """The ClientError that botocore raises when a service fails by itself."""

    def __init__(self, message: str) -> None:
        error = {"Code": type(self).__name__, "Message": message}
        super().__init__({"Error": error}, "on purpose")
