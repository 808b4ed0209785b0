"""A database of no use, whose calls can be seen and failed."""


class Error(Exception):
    """The base of what the driver raises."""


class OperationalError(Error):
    """The database cannot be reached."""


class Connection:
    """A connection that forgets everything."""

    def execute(self, statement: str) -> None:
        """Do nothing."""
