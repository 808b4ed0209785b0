"""Runs programs in which faults are steps among others, and judges each call."""
