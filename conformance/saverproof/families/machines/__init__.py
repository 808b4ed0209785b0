"""Hypothesis state machines that take the kit's own steps; authors may subclass them.

:class:`SaverMachine` in :mod:`saverproof.families.machines.machine` is the class to subclass.
:mod:`saverproof.families.machines.rules` turns a maker of steps into a rule.
"""
