"""LangGraph's own conformance suite (langgraph-checkpoint-conformance), run on any target."""
