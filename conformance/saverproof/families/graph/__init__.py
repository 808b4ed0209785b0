"""Real LangGraph graphs, run on the saver under test and on InMemorySaver, and compared."""
