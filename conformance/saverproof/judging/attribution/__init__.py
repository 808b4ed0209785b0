"""Turns neutral facts into contracts.

``contract_of_fact`` has the contract that makes each fact expected, ``rules_of_answers`` and
``rules_of_changes`` what the step that brought a difference adds to that, in order, and
``features`` what is to blame if a difference goes away when something is taken out of the program.
To mend a blame, these are all there is to read.
"""

from saverproof.judging.attribution.contract_of_fact import answered, counted
from saverproof.judging.attribution.rules import attribute

__all__ = ["answered", "attribute", "counted"]
