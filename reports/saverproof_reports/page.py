"""The report as one self-contained HTML page."""

from collections.abc import Mapping
from typing import Any


def html(report: Mapping[str, Any]) -> str:
    """`report` as an HTML page."""
    return f"<!doctype html><title>saverproof: {len(report['savers'])} savers</title>\n"
