"""The page of the classes of mistakes has the wrong savers that there are."""

from __future__ import annotations

from tests.docs.mistake_classes import PAGE, page


def test_the_page_is_as_it_would_be_written_now() -> None:
    assert PAGE.read_text("utf-8") == page(), "run: make pages"
