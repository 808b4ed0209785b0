"""Errors of files that the reports read."""


class ReportError(ValueError):
    """A report, spool or artefact cannot be used.

    The message is one line: which file, what was found, what was expected.
    """
