"""The judge process: a child in which savers may hang, crash or print without harming the run."""
