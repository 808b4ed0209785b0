"""What ``saverproof init`` writes for an author: a target, known violations, a CI workflow."""
