"""What docs/reports.md shows of two releases compared: reports that ``make field`` made of each.

``python -m tests.docs.compared`` writes it anew. With the folder that ``.ci/field.py run --keep``
filled it takes the reports from there first.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from saverproof_reports import compare
from saverproof_reports.comparison_formats import comparison_text

PAGE = Path(__file__).parents[2] / "docs" / "reports.md"
RECORDED = Path(__file__).with_name("compared")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two releases of a saver of the field, the older first."""

    saver: str
    short: str
    """Its name in the folders of the example."""
    releases: tuple[str, str]

    def recorded(self, release: str) -> Path:
        """Return the place of a release's report."""
        return RECORDED / f"{self.saver}-{release}.json.gz"

    @property
    def reports(self) -> list[dict[str, Any]]:
        """Both reports."""
        texts = (gzip.decompress(self.recorded(one).read_bytes()) for one in self.releases)
        return [json.loads(text) for text in texts]

    @property
    def command(self) -> str:
        """The command that compares them."""
        old, new = (f"{self.short}-{release}" for release in self.releases)
        return f"$ saverproof compare {old} {new}"

    @property
    def shown(self) -> str:
        """The command, and what it says."""
        return f"{self.command}\n{comparison_text(compare(*self.reports))}"

    def block(self) -> re.Pattern[str]:
        """What matches the page's block with the command."""
        return re.compile(
            rf"(?<=^```console\n){re.escape(self.command)}\n.*?(?=^```$)",
            flags=re.DOTALL | re.MULTILINE,
        )


PAIRS = (
    Pair("langgraph-sqlite", "sqlite", ("3.1.1", "3.1.2")),
    Pair("langgraph-postgres", "postgres", ("3.1.2", "3.2.0")),
)


def record(kept: Path) -> None:
    """Take over the reports of a run of ``make field``."""
    RECORDED.mkdir(exist_ok=True)
    for pair in PAIRS:
        for release in pair.releases:
            text = (kept / f"{pair.saver}-{release}" / "report.json").read_bytes()
            # Where Python lies is of the machine, and of nobody's interest.
            text = text.replace(sys.base_prefix.encode(), b"/usr")
            # Without a time, the same report is the same file.
            pair.recorded(release).write_bytes(gzip.compress(text, mtime=0))


def main() -> None:
    """Write the blocks of the page."""
    for folder in sys.argv[1:]:
        record(Path(folder))
    text = PAGE.read_text("utf-8")
    for pair in PAIRS:
        shown = pair.shown
        text = pair.block().sub(lambda _, shown=shown: shown, text)
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
