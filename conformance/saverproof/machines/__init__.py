"""Hypothesis state machines over the same steps; authors may subclass them."""
