"""Known violations: which violated contracts a run is told to expect."""
