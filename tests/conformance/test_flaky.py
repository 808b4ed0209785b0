"""Scripts that hang on timing say how often they showed what they are for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from saverproof.scripts import flaky
from saverproof.scripts.flaky import often_shown, tried_often
from saverproof.scripts.script import MEANING

TEXT = f'"""a promise"""\n\n{MEANING.format(saver="my-saver")}\nimport sys\n'


def shown_in(monkeypatch: pytest.MonkeyPatch, *runs: bool) -> tuple[str, Iterator[bool]]:
    left = iter(runs)
    monkeypatch.setattr(flaky, "complains_alone", lambda text, promise: next(left))
    return tried_often(TEXT, "a promise"), left


@pytest.mark.parametrize(
    ("runs", "often", "said"),
    [
        ((True, True, True), "3 of 3", "says that it was not seen this time."),
        ((False, True, True), "2 of 3", "proves nothing, try again."),
        ((True, False, False), "1 of 3", "proves nothing, try again."),
    ],
)
def test_how_often_is_told_in_the_head(
    runs: tuple[bool, ...], often: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, _ = shown_in(monkeypatch, *runs)
    assert often_shown(text) == often
    assert f"# It was seen in {often} runs: 0 {said}\nimport sys\n" in text
    assert "when my-saver is seen to break this promise" in text
    assert max(map(len, text.splitlines())) <= 100
    compile(text, "script", "exec")


def test_a_script_that_shows_nothing_is_given_up_early(monkeypatch: pytest.MonkeyPatch) -> None:
    text, left = shown_in(monkeypatch, False, False, True)
    assert text == ""
    assert next(left)


def test_a_script_that_is_not_sure_is_tried_with_more_repetitions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(flaky, "complains_alone", lambda text, promise: text != TEXT)
    assert often_shown(tried_often(TEXT, "a promise", repeated)) == "3 of 3"
    monkeypatch.setattr(flaky, "complains_alone", lambda text, promise: True)
    assert "import sys\n" in tried_often(TEXT, "a promise", repeated)


def repeated(times: int) -> str:
    return TEXT.replace("import sys", f"import sys  # {times} times")


@pytest.mark.parametrize(("run_s", "times"), [(0.1, 20), (5.0, 3)])
def test_a_slow_script_is_repeated_less_often(
    run_s: float, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = count(0.0, run_s)
    monkeypatch.setattr(flaky, "monotonic", lambda: next(clock))
    monkeypatch.setattr(flaky, "complains_alone", lambda text, promise: text != TEXT)
    assert f"# {times} times" in tried_often(TEXT, "a promise", repeated)


def test_a_script_that_is_slow_already_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count(0.0, 10.0)
    monkeypatch.setattr(flaky, "monotonic", lambda: next(clock))
    monkeypatch.setattr(flaky, "complains_alone", lambda text, promise: text != TEXT)
    assert tried_often(TEXT, "a promise", repeated) == ""


def test_a_dense_script_has_it_below_its_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flaky, "complains_alone", lambda text, promise: True)
    text = tried_often('# fmt: off\n"""a promise"""\nimport sys\n', "a promise")
    assert '"""a promise"""\n# It was seen in 3 of 3 runs: ' in text
    assert often_shown(text) == "3 of 3"


def test_a_script_that_hangs_on_nothing_says_so() -> None:
    assert often_shown(TEXT) == ""
