"""Known violations: the violated contracts that a run is told to expect."""
