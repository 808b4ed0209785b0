"""Attributes a difference to a contract, by rules that know the step which brought it.

The fact alone does not decide: a wrong value after one put is about serialization, after a second
put of the same id about upsert. The first rule that fits decides, so a rule may rely on those above
it. If no rule fits, the contract that made the fact expected is broken.
"""

from __future__ import annotations

from saverproof.judging import facts
from saverproof.judging.attribution import conditions
from saverproof.judging.attribution.rule import Case, Rule
from saverproof.judging.attribution.rules_of_answers import ANSWERS
from saverproof.judging.attribution.rules_of_changes import CHANGES
from saverproof.judging.facts import Difference
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import OwnStep, Step

OWN = (
    Rule(
        "what an author's rule or invariant demands is its own contract",
        lambda case: str(case.difference.detail),
        {facts.OWN},
    ),
    Rule(
        "after a step of an author's rule everything is as the model says",
        lambda case: getattr(case.step, "contract", ""),
        after=OwnStep,
    ),
)
RULES: tuple[Rule, ...] = (*OWN, *ANSWERS, *CHANGES)


def attribute(difference: Difference, step: Step, model: Model) -> str:
    """Return the contract that a difference breaks; ``step`` is the one after which it was first
    seen.
    """
    case = Case(difference, step, model)
    rule = next((rule for rule in RULES if rule.fits(case)), None)
    if rule is None:
        return conditions.by_itself(case)
    return rule.contract if isinstance(rule.contract, str) else rule.contract(case)
