"""The packaged suite."""
