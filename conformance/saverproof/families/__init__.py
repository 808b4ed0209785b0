"""Families of contracts: each is judged, replayed and reported through one protocol."""
