"""The contracts, one module a family."""
