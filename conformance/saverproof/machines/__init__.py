"""Hypothesis state machines over the same steps as everything else; authors may subclass them.

:class:`SaverMachine` in :mod:`saverproof.machines.machine` is the one to subclass; ``making_rule``
turns a maker of steps into a rule.
"""
