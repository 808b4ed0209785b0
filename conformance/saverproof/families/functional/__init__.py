"""The functional families: programs of steps on one saver, whose answers a model predicts."""
