"""The page of the classes of mistakes has the wrong savers that there are."""

from __future__ import annotations

from tests.docs.mistake_classes import PAGE, issues, page


def test_the_page_is_as_it_would_be_written_now() -> None:
    assert PAGE.read_text("utf-8") == page(), "run: make pages"


def test_each_public_issue_about_cost_has_a_wrong_saver_and_a_contract() -> None:
    """The self-test demands that each is found, and that its contract is blamed for it."""
    assert {issue: wrong.breaks for issue, wrong in issues()} == {
        "langchain-ai/deepagents#4005": "cost/filter",
        "langchain-ai/langgraph#7204": "cost/page",
        "langchain-ai/langgraph#7259": "cost/callers-at-once",
        "langchain-ai/langgraph#7263": "cost/page",
        "langchain-ai/langgraph#8054": "cost/space-given-back",
        "langchain-ai/langgraph#8448": "cost/delta-history",
        "langchain-ai/langgraph#8535": "cost/delta-history",
        "langchain-ai/langgraphjs#2551": "cost/get-by-id",
        "redis-developer/langgraph-redis#162": "cost/space-given-back",
    }
