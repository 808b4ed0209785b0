"""What a right saver would hold: plain Python, without langgraph and without Hypothesis."""
