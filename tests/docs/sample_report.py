"""The sample report of the site: the page of a recorded run, rendered anew with each build.

A hook of MkDocs (`mkdocs.yml`), so that the site shows the page as it is today and no copy of it
lies in the repository.
"""

import gzip
import json
from pathlib import Path
from typing import Any

from saverproof_reports import html

RECORDED = Path(__file__).with_name("sample_report.json.gz")
"""report.json of ``saverproof judge langgraph-sqlite`` (langgraph-checkpoint-sqlite 3.1.2)."""
PAGE = "sample-report.html"


def sample_report() -> dict[str, Any]:
    """The recorded run."""
    found: dict[str, Any] = json.loads(gzip.decompress(RECORDED.read_bytes()))
    return found


def on_post_build(config: Any, **_: Any) -> None:
    """Put the page beside those of the site."""
    Path(config["site_dir"], PAGE).write_text(html(sample_report()), encoding="utf-8")
