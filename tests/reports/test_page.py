"""The HTML page: what it holds, and that a real browser shows it without complaint."""

import json
import re
import shutil
import subprocess
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.reports.hostile import hostile_report
from tests.reports.sample import (
    BAD_PLACES,
    comparison_report,
    extra,
    finding,
    good_report,
    run_event,
    saver_events,
    violations,
)

from saverproof_reports import compare, comparison_html, html, markdown, report_of, validate
from saverproof_reports.diff import diff
from saverproof_reports.sections import merge_power

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--enable-logging=stderr",
    "--virtual-time-budget=2000",
    "--dump-dom",
)


def many_violations() -> Any:
    sections = extra(BAD_PLACES, lost=2)
    return report_of([run_event(), *saver_events("x", violations(20), sections), {"event": "end"}])


def smallest() -> Any:
    """A report of another writer's, with what the schema requires and nothing more."""
    report = comparison_report()
    del report["run"]["command"]
    for judged in report["savers"]:
        del judged["stale"], judged["saver"]["target"]
        for section, added in (("faults", "map"), ("crash", "trials_detail"), ("power", "by_lost")):
            judged[section].pop(added, None)
        for contract in judged["contracts"]:
            del contract["link"]
            for violation in contract["violations"]:
                del violation["reproducer_source"], violation["artefact_data"]
                violation.pop("known", None)
                violation |= {"reproducer": None, "artefact": None}
    assert validate(report) == []
    return report


PAGES = {
    "smallest": smallest,
    "good": good_report,
    "comparison": comparison_report,
    "twenty violations": many_violations,
    "cut short": lambda: report_of(saver_events("sqlite")[:3]),
    "nothing": lambda: report_of([]),
    "hostile": hostile_report,
}


def all_pages() -> dict[str, str]:
    pages = {name: html(build()) for name, build in PAGES.items()}
    compared = compare(good_report(), hostile_report()), compare(good_report(), good_report())
    return pages | {
        "hostile comparison": comparison_html(compared[0]),
        "equal comparison": comparison_html(compared[1]),
    }


class Page(HTMLParser):
    """Every element with its attributes, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: Any, attrs: Any) -> Any:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: Any) -> Any:
        self.text += data


@pytest.fixture(params=PAGES, ids=lambda name: name.replace(" ", "-"))
def page(request: Any) -> str:
    return html(PAGES[request.param]())


def test_the_page_needs_no_network(page: str) -> None:
    for tag, attributes in Page(page).elements:
        assert tag not in ("iframe", "object", "embed", "img", "base", "form")
        if tag == "link":
            assert attributes["href"] == "data:,"
        if tag == "script":
            assert attributes == {}
    assert "@import" not in page
    assert "url(" not in page


def test_links_lead_somewhere(page: str) -> None:
    elements = Page(page).elements
    ids = {attributes.get("id") for _, attributes in elements}
    links = [attributes["href"] or "" for tag, attributes in elements if tag == "a"]
    assert all(link.removeprefix("#") in ids for link in links if link.startswith("#"))
    assert all(link.startswith(("#", "https://", "http://")) for link in links)


def test_the_page_tells_a_newcomer_everything() -> None:
    text = " ".join(Page(html(comparison_report())).text.split())
    for said in (
        "2 of 4 savers break contracts: langgraph-sqlite 2, langgraph-sqlite-async 17.",
        "A saver keeps the state of LangGraph's agents.",
        "an operation that raised left nothing, whoever looks",
        "promised by langgraph.checkpoint.base: BaseCheckpointSaver",
        "fail before row 3 of INSERT INTO writes",
        "+ writes of task 1: nothing",
        "from langgraph.checkpoint.sqlite import SqliteSaver",
        "saverproof replay artefacts/langgraph-sqlite-atomicity-all-or-nothing-sync-fault.json",
        "torn: part of the operation was left",
        "A power cut loses up to 8 acknowledged operations (synchronous=NORMAL)",
        "documented by the maintainers",
        "keeps its data in memory: there is nothing to reopen",
        "How often each contract was judged",
        "langgraph-checkpoint-sqlite 3.1.2",
    ):
        assert said in text


def test_a_finding_says_why_it_matters_and_how_to_fix_it() -> None:
    page = html(comparison_report())
    assert "<dd>An agent suffers where all-or-nothing is broken.</dd>" in page
    assert "Mend all-or-nothing with <code>commit()</code>." in page
    assert 'contracts/#atomicityall-or-nothing" rel="noreferrer">More of this contract</a>' in page


def test_a_finding_that_a_mistake_of_another_contract_shows_is_mended_there() -> None:
    found = finding("upsert/put-replaces", mistake="no key", mistake_of="upsert/put-is-idempotent")
    report = report_of([run_event(), *saver_events("x", [found]), {"event": "end"}])
    for text in (html(report), markdown(report)):
        assert "shows the very same: no key" in text
        assert "Mend put-is-idempotent" in text
        assert "Mend put-replaces" not in text


def test_every_violation_is_on_the_page() -> None:
    report = comparison_report()
    page = html(report)
    for judged in report["savers"]:
        for contract in judged["contracts"]:
            for violation in contract["violations"]:
                assert escape(violation["reproducer"]) in page


def test_what_a_saver_breaks_comes_before_the_table_of_families() -> None:
    page = html(many_violations())
    assert (
        page.index("What it breaks: 17")
        < page.index('id="contracts"')
        < page.index('id="x--faults"')
    )
    compared = html(comparison_report())
    assert compared.index('id="contracts"') < compared.index("What it breaks"), (
        "savers side by side"
    )


def test_what_both_apis_show_is_told_once() -> None:
    found = [finding("upsert/put-replaces", api=api) for api in ("sync", "async")]
    page = html(report_of([run_event(), *saver_events("x", found), {"event": "end"}]))
    text = " ".join(Page(page).text.split())
    assert "two rows of a failed batch of five came back (sync, async, functional)" in text
    assert text.count("put_writes task 1: messages='hello'") == 1
    for api in ("sync", "async"):
        assert f"See it again through {api} calls" in text


def test_what_the_other_api_shows_otherwise_is_folded_into_the_same_entry() -> None:
    found = [finding("upsert/put-replaces", api=api) for api in ("sync", "async")]
    found[1]["steps"] = [*found[1]["steps"], "list everything"]
    page = html(report_of([run_event(), *saver_events("x", found), {"event": "end"}]))
    assert page.count('<div class="violation">') == 1
    assert "Async calls show it by another program: two rows of a failed" in page
    assert "list everything" in page


def test_power_cuts_and_callers_are_told_by_what_came_of_them() -> None:
    power = {
        "images": 9,
        "lost_acknowledged_max": 1,
        "corrupt": 2,
        "torn": 1,
        "by_lost": {"0": 5, "1": 1},
    }
    callers = {"scenes": {"iteration": 4, "race": 6}, "operations": 70, "broken_in": {"a/b": 3}}
    sections = {"power": power, "concurrency": callers}
    page = html(report_of([run_event(), *saver_events("x", sections=sections), {"event": "end"}]))
    text = " ".join(Page(page).text.split()).replace("\xa0", " ")
    assert "disk images: 5 whole, 1 lost, 1 torn, 2 unopened" in text
    assert "a/b: 3 broken, 7 kept" in text
    assert "None of them showed a contract broken." not in text


def test_what_a_power_cut_takes_after_a_failed_sync_is_told_apart() -> None:
    def cut(lost: int, corrupt: int) -> dict[str, Any]:
        failing = {
            "images": 40,
            "lost_acknowledged_max": lost,
            "corrupt": corrupt,
            "torn": 2 * corrupt,
            "places": 30,
            "failed": 3,
            "by_lost": {"0": 36, str(lost): 4},
        }
        quiet = {"images": 9, "lost_acknowledged_max": 0, "corrupt": 0, "by_lost": {"0": 9}}
        return {"power": quiet | {"failed_syncs": failing}}

    merged = merge_power([cut(5, 1)["power"], cut(2, 0)["power"], {"images": 1, "corrupt": 0}])
    assert (merged["images"], merged["lost_acknowledged_max"]) == (19, 0)
    assert merged["failed_syncs"]["lost_acknowledged_max"] == 5
    events = [*saver_events("x", sections=cut(5, 1)), {"event": "end"}]
    text = " ".join(Page(html(report_of([run_event(), *events]))).text.split())
    assert "A power cut loses no acknowledged work: 9 disk images." in text
    assert (
        "After a failed sync, a power cut loses up to 5 acknowledged operations "
        "(3 of 30 syncs): 40 disk images, 1 of them corrupt, 2 of them torn."
    ) in text.replace("\xa0", " ")


def test_every_failed_place_is_a_square() -> None:
    squares = [
        attributes["class"]
        for _, attributes in Page(html(many_violations())).elements
        if (attributes.get("class") or "").startswith("cell ")
    ]
    assert squares.count("cell o-torn") == 4
    assert squares.count("cell o-late") == squares.count("cell o-not-fired") == 1
    assert len(squares) == 92 + 72


def test_a_square_leads_to_what_it_shows() -> None:
    sections = extra(BAD_PLACES, lost=2)
    for place in (*sections["faults"]["map"], *sections["crash"]["trials_detail"]):
        place["contract"] = {
            "torn": "atomicity/all-or-nothing",
            "lost": "durability/acknowledged-survives",
            "late": "atomicity/no-late-commit",
        }.get(place["outcome"], "")
    torn = finding("atomicity/all-or-nothing", phase="fault")
    events = [run_event(), *saver_events("x", [torn], sections), {"event": "end"}]
    squares = [
        (attributes["class"], attributes.get("href"))
        for _, attributes in Page(html(report_of(events))).elements
        if (attributes.get("class") or "").startswith("cell ")
    ]
    assert squares.count(("cell o-torn", "#x--atomicity-all-or-nothing")) == 4
    # There is no finding of these on the page.
    assert {href for kind, href in squares if kind != "cell o-torn"} == {None}


def test_the_page_counts_advice() -> None:
    text = " ".join(Page(html(comparison_report())).text.split())
    assert "none of 9 shoulds that apply is broken (advice)" in text.lower()
    assert "2 of 9 shoulds that apply are broken (advice)" in text.lower()
    assert "Advice: 2" in text


def test_every_kind_of_fault_and_kill_is_explained() -> None:
    text = " ".join(Page(html(many_violations())).text.split())
    for said in ("client: the database driver raises", "engine: the database itself refuses"):
        assert said in text
    assert "io: the file system fails" in text
    assert "statement: before or after a statement" in text


@pytest.mark.parametrize(
    ("observed", "expected", "marks"),
    [
        ("a\nb", "a\nb", "  "),
        ("a\nb", "a\nc", " -+"),
        ("", "x", "+"),
        ("x\ny", "", "--"),
        ("a", "b\nc", "-++"),
    ],
)
def test_a_diff_marks_each_line(observed: Any, expected: Any, marks: Any) -> None:
    lines = diff(observed, expected)
    assert "".join(line.mark for line in lines) == marks
    kept = "\n".join(line.text for line in lines if line.mark != "+")
    assert kept == observed


def test_a_diff_marks_what_differs_inside_a_line() -> None:
    before, after = diff("writes of task 1: [1, 2]", "writes of task 1: [1, 3]")
    assert [text for text, changed in before.parts if changed] == ["2"]
    assert [text for text, changed in after.parts if changed] == ["3"]


def test_what_was_wrong_is_red_on_the_page_and_on_github() -> None:
    report = comparison_report()
    page, text = html(report), markdown(report)
    assert "-writes of task 1: ('messages', 'hello'), ('branch:to:b', None)\n" in text
    assert "\n+writes of task 1: nothing\n" in text
    lines = re.findall(r'<span class="(minus|plus)">(.*?)</span>', page)
    assert ("plus", "+ writes of task 1: <mark>nothing</mark>") in lines
    assert {kind for kind, line in lines if "hello" in line} == {"minus"}
    # GitHub shows lines with a minus in red; so does the page.
    assert re.search(r"\.minus \{ background: var\(--bad-soft\)", page)


FRAMES = """<!doctype html><title>frames</title><body><script>
const pages = {pages};
const seen = [];
// How many findings a page shows, of one contract and then of one verdict, and how many it unfolds.
function filtered(page) {{
  const tools = page.getElementById("tools");
  if (!tools) return null;
  const count = (which) => page.querySelectorAll(".finding" + which).length;
  const set = (name, value) => {{
    tools.querySelector(`[name=${{name}}]`).value = value;
    tools.dispatchEvent(new Event("input"));
    return count(":not([hidden])");
  }};
  const counts = [set("words", "upsert/put-replaces"), set("words", ""), set("verdict", "advice")];
  set("verdict", "");
  tools.querySelector("[data-unfold]").click();
  return [...counts, count("[open]"), tools.querySelector("output").textContent];
}}
for (const [name, page] of Object.entries(pages)) for (const width of [390, 850, 1280]) {{
  const frame = document.createElement("iframe");
  frame.style.cssText = `border:0;height:900px;width:${{width}}px`;
  frame.onload = () => {{
    const root = frame.contentDocument.documentElement;
    const texts = [...frame.contentDocument.querySelectorAll("svg text")];
    const sizes = texts.map((text) =>
      parseFloat(frame.contentWindow.getComputedStyle(text).fontSize) * text.getScreenCTM().a);
    const cut = texts.filter((text) => {{
      const [inner, outer] = [text, text.closest("svg")].map((one) => one.getBoundingClientRect());
      return inner.left < outer.left - 1 || inner.right > outer.right + 1;
    }});
    seen.push([name, width, root.scrollWidth, frame.contentDocument.title,
      filtered(frame.contentDocument), Math.min(99, ...sizes),
      cut.map((text) => text.textContent)]);
    document.title = JSON.stringify(seen);
  }};
  frame.srcdoc = page;
  document.body.append(frame);
}}
</script>"""


def browse(page: str, folder: Any) -> tuple[str, list[str]]:
    """The document after a real browser has shown `page`, and what it said on its console."""
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", path.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
    return shown.stdout, [line for line in shown.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_real_browser_shows_every_page_without_complaint(tmp_path: Path) -> None:
    pages = all_pages()
    quoted = json.dumps(pages).replace("</", "<\\/").replace("<!--", "<\\!--")
    document, console = browse(FRAMES.format(pages=quoted), tmp_path)
    assert console == []
    title = Page(document).text.partition("const pages")[0].removeprefix("frames")
    seen = json.loads(title)
    assert len(seen) == 3 * len(pages)
    assert {smallest for *_, smallest, _ in seen} > {99}
    counts = {name: filtered for name, _, _, _, filtered, *_ in seen}
    assert counts["twenty violations"] == [1, 20, 3, 20, ""]
    for name, width, scroll_width, inner_title, _, smallest, cut in seen:
        assert scroll_width <= width, f"{name} is {scroll_width} wide on a screen of {width}"
        assert inner_title.startswith("saverproof"), name
        assert smallest >= 11, f"{name} has text of {smallest} pixels on a screen of {width}"
        assert cut == [], f"{name} cuts text off on a screen of {width}"


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_the_browser_would_have_complained(tmp_path: Path) -> None:
    _, console = browse(html(good_report()).replace('"use strict"', '"changed"'), tmp_path)
    assert "Content Security Policy" in console[0]


def test_savers_whose_names_look_alike_have_anchors_of_their_own() -> None:
    events = [run_event(), *saver_events("my saver", [finding("ordering/pages-tile")])]
    events += saver_events("my-saver", [finding("ordering/pages-tile")])
    page = html(report_of([*events, {"event": "end"}]))
    identities = re.findall(r' id="([^"]+)"', page)
    assert len(identities) == len(set(identities))
    assert {"my-saver", "my-saver-2", "my-saver-2--ordering-pages-tile"} <= set(identities)
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(identities)


def test_notes_and_scenes_of_several_callers_are_shown() -> None:
    crowd = {"scenes": {"several processes": 4}, "operations": 70, "raised": {}, "notes": ["slow"]}
    section = {"concurrency": crowd, "faults": {"points": 1, "notes": ["half of <all>"]}}
    page = html(report_of([run_event(), *saver_events("x", sections=section), {"event": "end"}]))
    for text in (
        "Many callers at once",
        "several processes",
        "70 operations",
        "half of &lt;all&gt;",
    ):
        assert text in page


def test_names_in_backticks_are_code() -> None:
    events = [run_event(), *saver_events("x", [finding("ordering/pages-tile")])]
    events[1]["contracts"][5] |= {"source": "`a.b` <c>; one ` too many", "link": None}
    page = html(report_of(events))
    assert "`a.b` &lt;c&gt;; one ` too many" in page
    events[1]["contracts"][5] |= {"source": "`a.<b>`: c"}
    assert "<code>a.&lt;b&gt;</code>: c" in html(report_of(events))
