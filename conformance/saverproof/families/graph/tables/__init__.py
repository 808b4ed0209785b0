"""The scenarios, in the order in which they are played."""
