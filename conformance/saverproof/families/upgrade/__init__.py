"""The family upgrade: two releases of one saver, on one store."""
