"""What can be wrong with a file that the reports read."""


class ReportError(ValueError):
    """A report, spool or artefact that cannot be used; one line: which file, found, expected."""
