"""Targets: how an author declares a saver, and how the kit finds, opens and probes it."""
