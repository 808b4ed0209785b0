"""Writes a program down, and behind it the check that fits what its last step showed."""

from __future__ import annotations

from saverproof.judging.facts import OWN, Raised
from saverproof.judging.session import Breach
from saverproof.scripts.answer_checks import check_answer, check_latest
from saverproof.scripts.manner import Manner
from saverproof.scripts.special_steps import check_scene
from saverproof.scripts.state_checks import (
    check_fact,
    check_presence,
    check_readable,
    complain,
    guarded,
    unequal,
)
from saverproof.scripts.statements import lines_of, look_around, write, write_steps
from saverproof.scripts.writer import ScriptWriter
from saverproof.steps import definitions as steps

SCENES = (
    steps.Elsewhere,
    steps.RefuseValue,
    steps.Bulk,
    steps.FirstOperation,
    steps.CheckFiles,
    steps.CallOnLoop,
)
DELETIONS = (steps.DeleteThread, steps.DeleteForRuns, steps.CopyThread, steps.Prune)
PARITY = ("get_tuple of ", "list of ")
ANSWERS = frozenset({"selection", "order", "limit", "pages", "form", "returned", "version"})
HISTORIES = frozenset({"history", "channels", "kept", "delta"})
SCENERY = frozenset({"raised", "accepted", "seen", "put", "count", "latest"})


def manners(program: steps.Program, breach: Breach, api: str) -> list[Manner]:
    """The ways in which a script may go about it, the plainest first."""
    vias = _vias(program, breach)
    flips = (False, True) if api == "crossed" else (False,)
    return [
        Manner(via, between, flip) for between in (False, True) for flip in flips for via in vias
    ]


def _vias(program: steps.Program, breach: Breach) -> tuple[str, ...]:
    last = program[-1]
    if breach.difference.fact == "raised":
        if isinstance(last, steps.ListTuples):
            return ("id", "nones")
        return ("id", "list") if isinstance(last, DELETIONS) else ("id",)
    if breach.difference.fact == "version":
        return ("id", "types", "row")
    if not _of_state(breach):
        return ("plain", "id")
    if isinstance(last, steps.GetTuple) and not last.mutate_result:
        return ("step", "id", "latest", "list")
    if isinstance(last, steps.ListTuples):
        return ("step", "id", "list", "all")
    return ("id", "latest", "list", "all")


def _of_state(breach: Breach) -> bool:
    """Whether the fact is one of a checkpoint, which any read can show."""
    fact = breach.difference.fact
    settled = fact in ANSWERS | HISTORIES | SCENERY
    return breach.difference.address is not None and not settled and not fact.startswith("input:")


def write_program(writer: ScriptWriter, program: steps.Program, breach: Breach) -> None:
    """Write all of a program and the check of what its last step showed.

    Raises:
        NoScriptError: this cannot be shown by a script.
    """
    *before, last = program
    write_steps(writer, tuple(before))
    fact = breach.difference.fact
    if breach.difference.kind is OWN:
        _check_own(writer, last, breach)
    elif fact == "raised" and not isinstance(last, steps.NextVersions):
        _check_raised(writer, last, breach)
    elif fact.startswith(PARITY):
        _write_last(writer, last)
        _check_parity(writer, breach)
    elif fact == "latest" and not isinstance(last, steps.GetTuple):
        _write_last(writer, last)
        check_latest(writer, breach)
    elif _of_state(breach):
        if not (isinstance(last, steps.ListTuples) or _is_plain_read(last)):
            _write_last(writer, last)
        _check_state(writer, breach)
    elif isinstance(last, SCENES):
        check_scene(last, writer, breach)
    else:
        check_answer(last, writer, breach)


def _is_plain_read(step: steps.Step) -> bool:
    return isinstance(step, steps.GetTuple) and not step.mutate_result


def _write_last(writer: ScriptWriter, last: steps.Step) -> None:
    write(last, writer)
    if writer.manner.between:
        look_around(writer)


def _check_state(writer: ScriptWriter, breach: Breach) -> None:
    address = breach.difference.address
    assert address is not None
    writer.turn_round()
    match breach.difference.fact:
        case "missing" | "extra":
            check_presence(writer, breach, address)
        case "unreadable":
            check_readable(writer, breach, address)
        case _:
            check_fact(writer, breach, address)


def _check_raised(writer: ScriptWriter, last: steps.Step, breach: Breach) -> None:
    expected = str(breach.difference.expected)
    if writer.manner.via == "list":
        write(last, writer)
        threads = dict.fromkeys((*writer.model.threads, *_threads(last)))
        lines = [writer.listing(writer.config(thread)) for thread in threads]
        guarded(writer, lines, expected, breach)
        return
    if isinstance(last, steps.Reopen | steps.SetUp | steps.CloseAgain):
        write(last, writer)
        writer.guard = expected.replace("{", "{{").replace("}", "}}")
        return
    blocks, known = len(writer.blocks), len(writer.blocks[-1])
    if isinstance(last, steps.Bulk):
        check_scene(last, writer, breach)
    else:
        write(last, writer)
    if len(writer.blocks) > blocks:
        writer.guard = expected
        return
    lines = writer.blocks[-1][known:]
    del writer.blocks[-1][known:]
    guarded(writer, lines, expected, breach)


def _check_own(writer: ScriptWriter, last: steps.Step, breach: Breach) -> None:
    """A rule or an invariant of the author's raises."""
    contract = str(breach.difference.detail)
    lines = lines_of(last, writer)
    if not (isinstance(last, steps.OwnStep) and last.contract == contract):
        writer.say(*lines)
        lines = [writer.call_own(contract, {})]
    guarded(writer, lines, "no exception", breach)


def _threads(step: steps.Step) -> tuple[str, ...]:
    if isinstance(step, steps.DeleteThread):
        return (step.thread,)
    return tuple(step.threads) if isinstance(step, steps.Prune) else ()


def _check_parity(writer: ScriptWriter, breach: Breach) -> None:
    """Both APIs are asked the same; the second answers otherwise than the first."""
    writer.helpers.add("shown")
    first, second = breach.difference.expected, breach.difference.observed
    different = unequal(breach.difference)
    if isinstance(first, Raised) or isinstance(second, Raised):
        different = "observed != expected"
    if breach.difference.fact.startswith("get_tuple"):
        model = writer.model
        places = [writer.at(address) for address in (*model.addresses(), *model.gone)]
        asked = [f"shown({writer.api_call(api, 'get_tuple', 'at')})" for api in ("sync", "async")]
    else:
        places = [writer.config(thread) for thread in writer.model.threads]
        asked = [writer.api_listing(api, "at", item="shown(found)") for api in ("sync", "async")]
    writer.say(f"for at in [{', '.join(places)}]:")
    known = len(writer.blocks[-1])
    if isinstance(second, Raised):
        writer.say(asked[0])
        guarded(writer, [asked[1]], "the answer of the other API", breach)
    else:
        writer.say(f"expected = {asked[0]}", f"observed = {asked[1]}")
        complain(writer, different)
    block = writer.blocks[-1]
    block[known:] = [f"    {line}" for line in block[known:]]
