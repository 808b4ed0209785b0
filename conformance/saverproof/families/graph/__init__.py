"""Runs real LangGraph graphs on the saver under test and on InMemorySaver, and compares."""
