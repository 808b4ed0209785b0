"""Writes a standalone script of a trial, call by call as the trial goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from saverproof.savers.targets.target import Target
from saverproof.scripts.call_source import CallSource
from saverproof.scripts.helpers import helpers
from saverproof.scripts.opening import opening_of
from saverproof.scripts.saver_methods import SaverMethods
from saverproof.scripts.script import complaint, main, promise_of, script
from saverproof.scripts.source import dict_source, keyword_arguments, literal, quoted
from saverproof.scripts.verification import first_to_complain
from saverproof.scripts.writer import ScriptWriter

Place = tuple[str, str]
"""Thread and namespace."""
_PASS = "pass_time"
_PARTS = (
    "def parts(it):",
    "    return [*it.checkpoint['channel_values'].items(), "
    "*(w[1:] for w in it.pending_writes or ())]",
)


class TrialScript:
    """The script of one trial so far. Checkpoints are named by their numbers, of which ``numbers``
    gives those that no other trial on the same store has.

    Only the first complaint is written: a script ends with it.
    """

    def __init__(self, target: Target, api: str, contract: str, numbers: Iterator[int]) -> None:
        self.numbers = numbers
        self._target = target
        self._contract = contract
        self._opening = opening_of(target)
        managed = self._opening is not None and self._opening.managed
        self._writer = ScriptWriter(CallSource(api, managed), SaverMethods())
        self._versions: dict[Any, str] = {}
        self._last_read = ""
        self._complains = self._compares_parts = False

    def unread(self) -> TrialScript:
        """Return a script of calls that nobody reads."""
        return TrialScript(self._target, self._writer.calls.api, self._contract, self.numbers)

    # --- calls of the trial --------------------------------------------------------------

    def put(
        self,
        place: Place,
        number: int,
        parent: int | None,
        values: Mapping[str, Any],
        old: Mapping[str, Any],
        new: Sequence[str],
        version: Any,
    ) -> None:
        """Write a put. ``old`` are the versions of all channels so far; ``version`` is the next
        one, which the ``new`` ones get.
        """
        writer, known = self._writer, self._versions
        writer.helpers.add("checkpoint")
        writer.id(number)
        known[version] = writer.mint(known[each] for each in old.values())
        kept = {name: known[each] for name, each in old.items() if name not in new}
        changed = dict_source(dict.fromkeys(new, known[version]))
        parts = ", ".join([str(number), literal(values), changed, *keyword_arguments(kept)])
        given = (f"checkpoint({parts})", "{}", changed)
        writer.say(writer.change("put", writer.config(*place, parent), *given))

    def put_writes(self, place: Place, number: int, write: tuple[str, Any], task: str) -> None:
        """Write the put of one pending write. The end of the task's id is enough for a script."""
        batch = f"[({quoted(write[0])}, {literal(write[1])})]"
        config = self._writer.config(*place, number)
        self._writer.say(self._writer.change("put_writes", config, batch, quoted(task[-1])))

    def copy(self, source: str, target: str) -> None:
        """Write the copy of a thread."""
        self._writer.say(self._writer.change("copy_thread", quoted(source), quoted(target)))

    def wait(self, seconds: float) -> None:
        """Write that time passes."""
        given = "path", str(round(seconds, 3))
        # It may run a loop of its own, which it could not do in the thread of another.
        waits = self._writer.calls.in_coroutine
        call = f"await asyncio.to_thread({_PASS}, {', '.join(given)})"
        self._writer.say(call if waits else f"{_PASS}({', '.join(given)})")

    def read(self, place: Place, number: int | None = None) -> None:
        """Write a read. Its answer does not matter, unless it is complained of."""
        asked = self._get(place, number)
        self._last_read = f"[{asked}]"
        self._writer.say(asked)

    def read_list(self, place: Place) -> None:
        """Write a listing. Its answer does not matter, unless it is complained of."""
        self._last_read = self._writer.listing(self._writer.config(*place))
        self._writer.say(self._last_read)

    def ask_history(self, place: Place, number: int, channel: str) -> None:
        """Write a read of a delta channel. Its answer does not matter, unless it is complained
        of.
        """
        self._writer.say(self._history(place, number, channel))

    # --- what is wrong: a position, so that what the judge has read is read once ---------------

    @property
    def position(self) -> int:
        """The place of the next line."""
        return self._writer.position

    def complain_of_part(
        self, position: int, number: int, parts: Sequence[tuple[str, Any]]
    ) -> None:
        """Complain that the last read shows a checkpoint without one of these values or pending
        writes, each with its channel.
        """
        self._compares_parts |= not self._complains
        self._complain(
            position,
            f"for found in {self._last_read}:",
            f"    if found and found.checkpoint['id'] == {self._writer.id(number)}:",
            f"        lost = [part for part in {_parts(parts)} if part not in parts(found)]",
            "        if lost:",
            f"            {complaint('all of a checkpoint', 'without {lost}')}",
        )

    def complain_of_listing(self, position: int, place: Place, number: int) -> None:
        """Complain of a checkpoint that is listed, and not shown by its id."""
        checkpoint = self._writer.id(number)
        found = self._writer.listing(self._writer.config(*place), item="found.checkpoint['id']")
        self._complain(
            position,
            f"listed = {found}",
            f"if {checkpoint} in listed and {self._get(place, number)} is None:",
            f"    {complaint('a checkpoint that is listed by its id', 'None')}",
        )

    def complain_of_loss(
        self, position: int, place: Place, while_shown: Place | None = None
    ) -> None:
        """Complain of a namespace whose latest checkpoint is gone, and, if ``while_shown`` is
        given, that of the other namespace is not.
        """
        gone = f"{self._get(place)} is None"
        shown = "" if while_shown is None else f"{self._get(while_shown)} is not None and "
        self._complain(
            position,
            f"if {shown}{gone}:",
            f"    {complaint('a checkpoint', 'None')}",
        )

    def complain_of_history(
        self, position: int, place: Place, number: int, channel: str, values: Sequence[Any]
    ) -> None:
        """Complain of a checkpoint that is shown, and whose delta channel has lost writes."""
        self._complain(
            position,
            f"if {self._get(place, number)} is not None:",
            f"    history = {self._history(place, number, channel)}",
            f"    observed = [value for _, _, value in history[{quoted(channel)}]['writes']]",
            f"    expected = {literal(values)}",
            "    if observed != expected:",
            f"        {complaint('writes of {expected}', '{observed}')}",
        )

    def _complain(self, position: int, *lines: str) -> None:
        if self._complains:
            return
        self._writer.take_back(position)
        self._writer.say(*lines)
        self._complains = True

    def _get(self, place: Place, number: int | None = None) -> str:
        return self._writer.ask("get_tuple", self._writer.config(*place, number))

    def _history(self, place: Place, number: int, channel: str) -> str:
        asked = f"config={self._writer.config(*place, number)}", f"channels=[{quoted(channel)}]"
        return self._writer.ask("get_delta_channel_history", *asked)

    def text(self) -> str:
        """Return the whole script; "" if it does not complain in a process of its own, or if no
        script can open the target or let its time pass.
        """
        opening = self._opening
        if opening is None or not opening.passing or not self._complains:
            return ""
        lines = opening.in_folder(opening.opened(self._writer.blocks[0]))
        in_coroutine = self._writer.calls.in_coroutine
        passing = f"def {_PASS}(path, seconds):", f"    {opening.passing}"
        own = [*passing, *(_PARTS if self._compares_parts else ())]
        body = [*helpers(self._writer, opening), *own, *main(lines, coroutine=in_coroutine)]
        promise = promise_of(self._contract)
        source = script(promise, self._target.name, opening, body, self._writer.imports)
        return first_to_complain([source], self._contract)


def _parts(parts: Sequence[tuple[str, Any]]) -> str:
    return f"[{', '.join(f'({quoted(name)}, {literal(value)})' for name, value in parts)}]"
