"""The files that ``saverproof init`` writes: a target, known violations, a CI workflow."""
