"""The contracts, with one module for each family."""
