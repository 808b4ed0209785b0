"""Attributes differences, which are neutral facts, to contracts.

``contract_of_fact`` has the contract behind each fact. ``rules_of_answers`` and
``rules_of_changes`` decide where the step that brought the difference matters; the first rule that
fits counts. ``features`` has what is to blame if a difference goes away when a part of the program
is taken out. To correct a wrong blame, look in these modules.
"""

from saverproof.judging.attribution.contract_of_fact import answered, counted
from saverproof.judging.attribution.rules import attribute

__all__ = ["answered", "attribute", "counted"]
