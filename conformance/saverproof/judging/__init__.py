"""Takes steps on a saver, compares its answers with the model, and finds the contracts broken."""
