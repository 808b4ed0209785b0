"""The report as one self-contained HTML page: no network, nothing that a saver said is markup."""

from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from saverproof_reports import charts, wording
from saverproof_reports.diff import diff
from saverproof_reports.families import ABOUT, contract_rows, families, tally, with_verdict
from saverproof_reports.summary import VERDICTS
from saverproof_reports.text import slug


def html(report: Mapping[str, Any]) -> str:
    """`report` as an HTML page."""
    return render(
        "report.html.j2",
        report=report,
        families=families(report["savers"]),
        several=len(report["savers"]) > 1,
    )


def render(template: str, **values: Any) -> str:
    """The page that `template` makes of `values`, with the shared style and script inside."""
    return _templates().get_template(template).render(**values)


@cache
def _templates() -> Environment:
    loader = PackageLoader("saverproof_reports")
    templates = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = _part("page.js")
    templates.globals |= {
        "style": Markup(_part("page.css")),
        "script": Markup(script),
        "script_hash": b64encode(sha256(script.encode()).digest()).decode(),
        "verdicts": VERDICTS,
        "about": ABOUT,
        "charts": charts,
        "wording": wording,
        "diff": diff,
        "tally": tally,
        "with_verdict": with_verdict,
        "broken": _broken,
        "contract_rows": contract_rows,
    }
    templates.filters |= {
        "slug": slug,
        "web": _web,
        "thousands": "{:,}".format,
        "capitalize_first": lambda text: text[:1].upper() + text[1:],
    }
    return templates


def _part(name: str) -> str:
    """A style sheet or script of ours: the only text that is not escaped."""
    return files("saverproof_reports").joinpath("templates", name).read_text("utf-8").strip()


def _web(link: object) -> str:
    """`link` if it is a web address, else '': an address of another kind may run code."""
    text = link if isinstance(link, str) else ""
    return text if text.startswith(("https://", "http://")) else ""


def _broken(judged: Mapping[str, Any], verdict: str, level: str | None) -> list[Mapping[str, Any]]:
    return [one for one in with_verdict(judged, verdict) if level is None or one["level"] == level]
