"""The results of a run of saverproof as JSON, HTML and Markdown, and the comparison of two runs.

Plain data in, text and files out: this package knows no saver and nothing of the kit.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saverproof_reports.artefacts import artefact, read_artefact, write_artefact
    from saverproof_reports.assembly import assemble
    from saverproof_reports.baseline import Baseline
    from saverproof_reports.code_scanning import sarif
    from saverproof_reports.comparison import Comparison, compare
    from saverproof_reports.comparison_formats import (
        comparison_html,
        comparison_markdown,
        comparison_text,
    )
    from saverproof_reports.document import markdown
    from saverproof_reports.errors import ReportError
    from saverproof_reports.events import report_of
    from saverproof_reports.loading import load_report
    from saverproof_reports.merging import merged
    from saverproof_reports.page import html
    from saverproof_reports.shields import badge
    from saverproof_reports.spool import Spool, read_spool
    from saverproof_reports.storage import read_report, write_report
    from saverproof_reports.validation import validate

__all__ = [
    "Baseline",
    "Comparison",
    "ReportError",
    "Spool",
    "artefact",
    "assemble",
    "badge",
    "compare",
    "comparison_html",
    "comparison_markdown",
    "comparison_text",
    "html",
    "load_report",
    "markdown",
    "merged",
    "read_artefact",
    "read_report",
    "read_spool",
    "report_of",
    "sarif",
    "validate",
    "write_artefact",
    "write_report",
]

# The modules of the public names. A name is looked up on first use, so that importing the package
# costs nothing.
_HOMES = {
    "Baseline": "baseline",
    "Comparison": "comparison",
    "ReportError": "errors",
    "Spool": "spool",
    "artefact": "artefacts",
    "assemble": "assembly",
    "badge": "shields",
    "compare": "comparison",
    "comparison_html": "comparison_formats",
    "comparison_markdown": "comparison_formats",
    "comparison_text": "comparison_formats",
    "html": "page",
    "load_report": "loading",
    "markdown": "document",
    "merged": "merging",
    "read_artefact": "artefacts",
    "read_report": "storage",
    "read_spool": "spool",
    "report_of": "events",
    "sarif": "code_scanning",
    "validate": "validation",
    "write_artefact": "artefacts",
    "write_report": "storage",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
