"""The report as Markdown."""

from collections.abc import Mapping
from typing import Any


def markdown(report: Mapping[str, Any]) -> str:
    """`report` as GitHub-flavoured Markdown."""
    return f"# saverproof: {len(report['savers'])} savers\n"
