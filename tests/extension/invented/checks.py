"""How the invented contracts are checked, and how the invented database is made to fail."""

from langgraph.checkpoint.base import empty_checkpoint

from invented.contracts import KEPT, RAISING, TABLE, UNUSED
from saverproof import CheckContext, CheckFamily
from saverproof_faults import ClassDriver

LABEL = "Invoice 7"


def label_is_kept(context: CheckContext) -> None:
    """Put a checkpoint with a label, and get it."""
    config = {"configurable": {"thread_id": "a", "checkpoint_ns": ""}}
    metadata = {"source": "input", "step": -1, "parents": {}, "label": LABEL}
    put = context.call("put", config, empty_checkpoint(), metadata, {})
    found = context.call("get_tuple", put)
    observed = None if found is None else found.metadata.get("label")
    if observed == LABEL:
        context.agreed()
    else:
        context.differed("the label has changed", expected=LABEL, observed=observed)


def say_nothing(context: CheckContext) -> None:
    """Tell of neither."""


def be_broken(context: CheckContext) -> None:
    """Raise, as a check with a mistake does."""
    raise LookupError("the check is broken")


FAMILY = CheckFamily(TABLE, {KEPT.id: label_is_kept, UNUSED.id: say_nothing, RAISING.id: be_broken})
LEDGER = ClassDriver(
    name="ledger",
    modules=("invented.ledger",),
    methods={"invented.ledger:Connection.execute": "execute"},
    errors="invented.ledger",
)
