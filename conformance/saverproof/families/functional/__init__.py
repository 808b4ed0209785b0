"""The functional families: programs of steps on one saver, followed by the model."""
