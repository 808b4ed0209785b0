"""A saver that puts the worst text it can into everything that a report shows of it."""

from typing import Any

from tests.reports.sample import finding, run_event, saver_events

from saverproof_reports import report_of

MARKUP = "</pre></script><script>document.title='owned'</script><img src=x onerror=alert(1)>"
NASTY = (
    f"{MARKUP} \x1b[31mred\x1b[0m \x1b]0;title\x07 \ud800 half \u202egnp.exe\u202c \" ' > "
    "``` ~~~ | a | b | [link](javascript:alert(1)) @someone #1 $x$ {{ 7 * 7 }} {% raw %} "
    "%0A::error::owned\n::error::owned\r\n<!-- ]]> &lt; \x00 \x85 \u2028 \ufeff \uffff "
)
HUGE = NASTY + "x" * 10_000_000


def hostile_events() -> list[dict[str, Any]]:
    """The events of a run over that saver."""
    listed = {"reason": NASTY, "link": "javascript:alert(1)"}
    texts = {
        "summary": NASTY,
        "expected": NASTY,
        "observed": HUGE,
        "steps": [NASTY, HUGE],
        "stacks": HUGE,
        "program": [{"step": "put", "value": NASTY}],
        "reproducer": f"# {MARKUP}\nvalue = '\ud800 \x1b[31m'\nassert not value\n",
    }
    findings = [
        finding("ordering/pages-tile", **texts),
        finding("upsert/put-replaces", **texts, known=listed),
        finding("filter/none", **{**texts, "program": None, "reproducer": ""}),
    ]
    place = {"operation": NASTY, "place": HUGE, "kind": NASTY, "detail": HUGE}
    sections = {
        "faults": {
            "points": 1,
            "injected": 1,
            "by_kind": {NASTY: 1},
            "map": [{**place, "outcome": "torn"}],
        },
        "crash": {
            "trials": 1,
            "kill_points": {NASTY: 1},
            "recovery_ms": {"p50": 1, "p99": 1},
            "lost": 0,
            "torn": 0,
            "trials_detail": [{**place, "outcome": "lost", "recovery_ms": [1.0]}],
        },
        "power": {
            "images": 3,
            "lost_acknowledged_max": 1,
            "corrupt": 1,
            "by_lost": {"0": 2, "1": 1},
            "setting": NASTY,
        },
        "concurrency": {"scenes": {NASTY: 1}, "operations": 1, "raised": {HUGE: 2}},
    }
    run, (saver, *items) = run_event(command=NASTY), saver_events(NASTY, findings, sections)
    run["environment"] = {"python": NASTY, "platform": HUGE, "packages": {NASTY: HUGE}}
    run["environment"]["variables"] = {NASTY: HUGE}
    saver["saver"] |= {"class": HUGE, "distribution": NASTY, "version": NASTY}
    saver["contracts"][0] |= {"statement": NASTY, "source": HUGE, "link": "javascript:alert(1)"}
    items[0]["unknown"] = {"interface/complete": NASTY}
    items[0]["stale"] = [{"id": NASTY, "message": HUGE}]
    return [run, saver, *items, {"event": "end"}]


def hostile_report() -> dict[str, Any]:
    """The report of `hostile_events`."""
    return report_of(hostile_events())
