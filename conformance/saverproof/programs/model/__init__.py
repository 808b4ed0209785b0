"""The model of a right saver, in plain Python without langgraph and without Hypothesis."""
