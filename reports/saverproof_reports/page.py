"""The report as one self-contained HTML page: no network, and no saver's text becomes markup."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import count
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from saverproof_reports import (
    charts,
    drawing,
    fault_words,
    laws,
    markup,
    mending,
    unsettled,
    wording,
)
from saverproof_reports.causes import also_broken, by_cause, cause_of
from saverproof_reports.curves import curves
from saverproof_reports.diff import diff
from saverproof_reports.entries import entries
from saverproof_reports.families import contract_rows, families, tally, titles, with_verdict
from saverproof_reports.summary import VERDICTS
from saverproof_reports.text import slug


def html(report: Mapping[str, Any]) -> str:
    """Return ``report`` as an HTML page."""
    savers = _anchored(report["savers"])
    return render(
        "report.html.j2",
        report={**report, "savers": savers},
        families=families(savers),
        about=titles(savers),
        several=len(savers) > 1,
    )


def _anchored(savers: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the savers, each with an ``anchor`` of its own: different names may have one slug."""
    taken: set[str] = set()
    anchored: list[Mapping[str, Any]] = []
    for judged in savers:
        name = slug(judged["saver"]["name"])
        anchor = next(
            one
            for number in count(1)
            if (one := name if number == 1 else f"{name}-{number}") not in taken
        )
        taken.add(anchor)
        anchored.append({**judged, "anchor": anchor})
    return anchored


def render(template: str, **values: Any) -> str:
    """Return the page that ``template`` makes of ``values``, with the shared style and script."""
    return templates().get_template(template).render(**values)


@cache
def templates() -> Environment:
    """Return the templates, each of which is compiled the first time that it is asked for."""
    loader = PackageLoader("saverproof_reports")
    made = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = _part("page.js")
    made.globals |= {
        "style": Markup(_part("page.css")),
        "script": Markup(script),
        "script_hash": b64encode(sha256(script.encode()).digest()).decode(),
        "verdicts": VERDICTS,
        "mending": mending,
        "charts": charts,
        "curves": curves,
        "drawing": drawing,
        "fault_words": fault_words,
        "laws": laws,
        "wording": wording,
        "unsettled": unsettled,
        "diff": diff,
        "tally": tally,
        "with_verdict": with_verdict,
        "broken": _broken,
        "entries": entries,
        "found": _found,
        "under_faults": _under_faults,
        "finding_of": _finding_of,
        "also_broken": also_broken,
        "cause_of": cause_of,
        "contract_rows": contract_rows,
    }
    made.filters |= {
        "slug": slug,
        "web": markup.web,
        "spans": _spans,
        "linked": _linked,
        "thousands": "{:,}".format,
        "capitalize_first": lambda text: text[:1].upper() + text[1:],
    }
    return made


def _part(name: str) -> str:
    """Return a style sheet or script of this package: the only text that is not escaped."""
    return files("saverproof_reports").joinpath("templates", name).read_text("utf-8").strip()


def _spans(text: str) -> Markup:
    """Return ``text`` with the parts between backticks as code."""
    code = Markup("<code>{}</code>")
    return Markup("").join(
        code.format(part) if is_code else escape(part) for part, is_code in markup.spans(text)
    )


def _linked(text: str) -> Markup:
    """Return ``text`` as ``_spans`` does, with the issues and advisories that it names as links."""
    code = Markup("<code>{}</code>")
    link = Markup('<a href="{}" rel="noreferrer">{}</a>')
    return Markup("").join(
        code.format(part)
        if is_code
        else Markup("").join(
            link.format(address, one) if address else escape(one)
            for one, address in markup.links(part)
        )
        for part, is_code in markup.spans(text)
    )


def _broken(judged: Mapping[str, Any], verdict: str, level: str | None) -> list[Mapping[str, Any]]:
    found = [one for one in with_verdict(judged, verdict) if level is None or one["level"] == level]
    return by_cause(judged, found)


def _found(judged: Mapping[str, Any]) -> bool:
    """Return whether there is a finding to show of a saver."""
    return any(one["violations"] or "unsettled" in one for one in judged["contracts"])


def _under_faults(judged: Mapping[str, Any]) -> bool:
    """Return whether faults, kills, power cuts or several callers have something to show."""
    figures = (judged["faults"]["points"], judged["crash"]["trials"], judged["power"]["images"])
    return any(figures) or bool(judged.get("concurrency", {}).get("scenes"))


def _finding_of(judged: Mapping[str, Any], place: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the contract that a place shows broken, if its violations are on the page."""
    named = [one for one in judged["contracts"] if one["id"] == place.get("contract")]
    return next((one for one in named if one["violations"]), None)
