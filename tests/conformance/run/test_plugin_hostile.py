"""A saver that says the worst it can is judged, and reported, like any other."""

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from tests.conformance.plugin_support import Project, Result

from saverproof_reports import validate

MARKUP = "</pre><script>document.title='owned'</script><img src=x onerror=alert(1)>"
HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\ud800-\udfff\ufeff]")

HOSTILE = f'''
import sys
from contextlib import contextmanager
from langgraph.checkpoint.memory import InMemorySaver
from saverproof import target

NASTY = """{MARKUP} {{{{ 7 * 7 }}}} \\x1b[31mred\\x1b]0;title\\x07 \\ud800 \\u202egnp.exe \\u2028
``` | @someone
%0A::error::owned
::error::owned
]]> &lt; \\x00"""
HUGE = NASTY + "x" * 10_000_000

class Angry(Exception):
    def __str__(self):
        return HUGE

class Silent(Exception):
    def __str__(self):
        raise Angry()

class Shouting:
    def __repr__(self):
        return HUGE

class Hostile(InMemorySaver):
    def get_tuple(self, config):
        found = super().get_tuple(config)
        if found is None:
            raise Silent()
        print(NASTY, flush=True)
        print(HUGE, file=sys.stderr, flush=True)
        metadata = {{**found.metadata, NASTY: Shouting(), "huge": HUGE}}
        return found._replace(metadata=metadata)

    def list(self, config, **arguments):
        if arguments.get("filter"):
            raise Angry()
        return super().list(config, **arguments)

Angry.__name__ = Angry.__qualname__ = "<b>\\x1b[31m" + "A" * 1000
Hostile.__qualname__ = NASTY.replace("\\0", "")

@target(name="hostile", durable=False, capabilities={{"async": "<i>\\x1b[1m no"}})
@contextmanager
def hostile(workspace):
    yield Hostile()
'''


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Result:
    project = Project(tmp_path_factory.mktemp("hostile"))
    project.write("hostile.py", HOSTILE)
    return project.pytest(
        "--saver=hostile.py:hostile",
        "--saver-profile=quick",
        "--saver-families=identity,filter",
        "--junitxml=junit.xml",
        GITHUB_ACTIONS="true",
        GITHUB_STEP_SUMMARY="summary.md",
    )


def test_it_is_judged(run: Result) -> None:
    assert run.status == 1
    assert "VIOLATED " in run.output
    assert " filter/equality (sync)" in run.output
    assert "Traceback" not in run.output
    assert "an error of the kit" not in run.output


def test_the_terminal_stays_plain_and_short(run: Result) -> None:
    assert HARMFUL.findall(run.output) == []
    assert len(run.output) < 300_000
    owned = [line for line in run.output.splitlines() if line.startswith("::error::")]
    assert owned == []


def test_every_file_stays_whole_harmless_and_small(run: Result) -> None:
    report = run.report()
    assert validate(report) == []
    files = [path for path in (run.folder / ".saverproof").rglob("*") if path.is_file()]
    assert {path.suffix for path in files} >= {".json", ".html", ".md"}
    for path in [*files, run.folder / "summary.md"]:
        text = path.read_bytes().decode("utf-8")
        assert HARMFUL.search(text) is None, path.name
        assert len(text) < 2_000_000, path.name
    for artefact in (run.folder / ".saverproof" / "artefacts").iterdir():
        json.loads(artefact.read_text())


def test_nothing_it_says_is_markup(run: Result) -> None:
    page = (run.folder / ".saverproof" / "report.html").read_text()
    assert page.count("<script>") == 1
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "{{ 7 * 7 }}" in page
    text = (run.folder / ".saverproof" / "report.md").read_text()
    outside = re.sub("(?s)(`+).*?\\1", "", text)
    assert "<img" not in outside.replace("\\<", "")


def test_junit_stays_xml(run: Result) -> None:
    tree = ElementTree.parse(run.folder / "junit.xml")
    items = [case for case in tree.iter("testcase") if "/" not in str(case.get("name"))]
    assert len(items) == 2
    assert (run.folder / "junit.xml").stat().st_size < 1_000_000


def test_the_commands_read_it(run: Result) -> None:
    project = Project(run.folder)
    shown = project.saverproof("report", ".saverproof")
    assert shown.status == 0
    assert HARMFUL.findall(shown.output) == []
    compared = project.saverproof("compare", ".saverproof", ".saverproof")
    assert compared.status == 0
    listed = project.saverproof("known", ".saverproof")
    assert listed.status == 0, listed.output
    artefact = next(
        path
        for path in Path(run.folder, ".saverproof", "artefacts").iterdir()
        if "filter" in path.name
    )
    replayed = project.saverproof("replay", str(artefact))
    assert replayed.status == 1, replayed.output
    assert HARMFUL.findall(replayed.output) == []
    assert len(replayed.output) < 20_000
