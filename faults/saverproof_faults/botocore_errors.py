"""What botocore raises where a service could not do what it was asked, made of a message alone."""

from botocore.exceptions import ClientError


class InternalServerError(ClientError):  # type: ignore[misc]
    """A ClientError as a service's own trouble comes."""

    def __init__(self, message: str) -> None:
        error = {"Code": type(self).__name__, "Message": message}
        super().__init__({"Error": error}, "on purpose")
