"""Runs families of contracts: each family is judged, replayed and reported through one protocol."""
