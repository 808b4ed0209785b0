"""The steps that are small scenes of their own, each with the check of what it shows."""

from __future__ import annotations

from functools import singledispatch

from saverproof.judging.facts import Difference
from saverproof.judging.files import SECRETS, WRITTEN_SECRET, as_bytes
from saverproof.judging.parity import PATIENCE_S
from saverproof.scripts.complaints import compare, complain
from saverproof.scripts.script import complaint
from saverproof.scripts.source import literal, quoted
from saverproof.scripts.statements import (
    NoScriptError,
    put,
    put_arguments,
    put_writes,
    write,
)
from saverproof.scripts.writer import ScriptWriter
from saverproof.steps import definitions as steps
from saverproof.steps.identifiers import task_id
from saverproof.values import Value

ONE = Value("integer", 1)


@singledispatch
def check_scene(step: steps.Step, writer: ScriptWriter, difference: Difference) -> None:
    """Write a scene with a check of what it shows.

    Raises:
        NoScriptError: no check is known for such a fact.
    """
    raise NoScriptError(f"no check of {difference.fact!r} in {type(step).__name__}")


# --- refused values ----------------------------------------------------------------------------


@write.register
def _(step: steps.RefuseValue, writer: ScriptWriter) -> None:
    writer.say("with contextlib.suppress(Exception):", f"    {_hand_over(step, writer)}")


@check_scene.register
def _(step: steps.RefuseValue, writer: ScriptWriter, difference: Difference) -> None:
    if difference.fact != "accepted":
        raise NoScriptError(f"no check of {difference.fact!r} in a refusal")
    call = _hand_over(step, writer)
    writer.say("try:", f"    {call}", "except Exception as refusal:")
    writer.say("    raise SystemExit(0) from refusal")
    writer.say(complaint("an exception", "no exception"))


def _hand_over(step: steps.RefuseValue, writer: ScriptWriter) -> str:
    bad = Value("unserializable", 0)
    if step.operation == "put":
        made = steps.Put(
            step.thread,
            step.namespace,
            step.number,
            step.parent,
            changes=(("count", ONE), ("notes", bad)),
        )
        return writer.change("put", *put_arguments(made, writer.plan(made), writer).values())
    good = [f'("count", {n})' for n in range(4)]
    good.insert(step.position % 5, f'("notes", {writer.value(bad)})')
    config = writer.config(step.thread, step.namespace, step.number)
    return writer.change("put_writes", config, f"[{', '.join(good)}]", writer.task(91))


# --- other workspaces --------------------------------------------------------------------------


@write.register
def _(step: steps.Elsewhere, writer: ScriptWriter) -> None:
    _visit(step, writer)


@check_scene.register
def _(step: steps.Elsewhere, writer: ScriptWriter, difference: Difference) -> None:
    _visit(step, writer, difference.fact)
    expected = "[]" if difference.fact == "seen" else '"its own checkpoint"'
    wrong = "observed" if difference.fact == "seen" else "observed is None"
    writer.say(f"expected = {expected}")
    complain(writer, wrong)


def _visit(step: steps.Elsewhere, writer: ScriptWriter, fact: str = "") -> None:
    """Open a second workspace, look at all it shows, put a checkpoint there and read it back."""
    writer.helpers |= {"opened", "checkpoint"}
    new = writer.mint(channel="notes").partition("[")[0]
    writer.id(step.number)
    checkpoint = f'checkpoint({step.number}, {{"notes": -1}}, {new})'
    seen = writer.listing_of("other", "None", item="found.config")
    asked = [
        writer.ask_of("other", "get_tuple", writer.config(*address))
        for address in writer.model.addresses()
        if fact == "seen"
    ]
    config, at = writer.config(step.thread, ""), writer.config(step.thread, "", step.number)
    there = writer.ask_of("other", "get_tuple", at)
    inner = [
        f"{'observed = ' if fact == 'seen' else ''}{seen}",
        *(f"observed += filter(None, [{look}])" for look in asked),
        writer.ask_of("other", "put", config, checkpoint, "{}", new),
        f"{'observed = ' if fact == 'put' else ''}{there}",
    ]
    header = ["with tempfile.TemporaryDirectory() as second, opened(second) as other:"]
    if writer.calls.managed:
        header = [
            "with tempfile.TemporaryDirectory() as second:",
            "    async with opened(second) as other:",
        ]
    writer.say(*header, *("    " * len(header) + line for line in inner))


# --- many at once ------------------------------------------------------------------------------


@check_scene.register
def _(step: steps.Bulk, writer: ScriptWriter, difference: Difference) -> None:
    writer.helpers.add("checkpoint")
    writer.id(step.number)
    start, at = writer.config(step.thread, ""), writer.config(step.thread, "", step.number)
    if step.kind == "checkpoints":
        _check_long_history(step, writer, start)
        return
    version = writer.mint()
    count = step.count if step.kind == "channels" else 0
    writer.say(
        f'channels = {{"total": 0}} | {{f"channel_{{n}}": n for n in range({count})}}',
        f"new = dict.fromkeys(channels, {version})",
        writer.change("put", start, f"checkpoint({step.number}, channels, new)", "{}", "new"),
    )
    found = writer.ask("get_tuple", at)
    if step.kind == "channels":
        writer.say(f"found = {found}")
        compare(writer, 'len(found.checkpoint["channel_values"])', f"{step.count + 1}")
    else:
        writes = f'[("total", n) for n in range({step.count})]'
        writer.say(writer.ask("put_writes", at, writes, writer.task(1)), f"found = {found}")
        shown = "sorted(write[2] for write in found.pending_writes)"
        compare(writer, shown, f"list(range({step.count}))")


def _check_long_history(step: steps.Bulk, writer: ScriptWriter, start: str) -> None:
    first, last = step.number, step.number + step.count
    given = ("at", 'checkpoint(n, {"total": n}, new, **seen)', "{}", "new")
    at = f"{start[:-1]}, ID[n])"
    writer.say(
        f"ID.update({{n: str(uuid6()) for n in range({first}, {last})}})",
        f"at, seen = {start}, {{}}",
        f"for n in range({first}, {last}):",
        '    new = {"total": saver.get_next_version(seen.get("total"), None)}',
        f"    {writer.change('put', *given)}",
        f"    at, seen = {at}, new",
    )
    compare(writer, f"len({writer.listing(writer.config(step.thread))})", str(step.count))


# --- first operations --------------------------------------------------------------------------


@write.register
def _(step: steps.FirstOperation, writer: ScriptWriter) -> None:
    if step.set_up and writer.methods.setup:
        writer.say(writer.methods.setup)
    config = writer.config("a", "", 1)
    match step.operation:
        case "put":
            write(steps.Put("a", "", 1, changes=(("count", ONE),)), writer)
        case "put_writes":
            write(steps.PutWrites("a", "", 1, 1, (("count", ONE),)), writer)
        case "get_tuple":
            writer.say(writer.ask("get_tuple", config))
        case "list":
            writer.say(writer.listing(config))
        case "delete_thread":
            writer.say(writer.change("delete_thread", '"a"'))
        case "delete_for_runs":
            writer.say(writer.change("delete_for_runs", literal([task_id(1)])))
        case "copy_thread":
            writer.say(writer.change("copy_thread", '"a"', '"b"'))
        case "prune":
            writer.say(writer.change("prune", '["a"]', 'strategy="keep_latest"'))
        case unknown:
            raise NoScriptError(f"no scene begins with {unknown!r}")


# --- files -------------------------------------------------------------------------------------


@write.register
def _(step: steps.CheckFiles, writer: ScriptWriter) -> None:
    if step.look_for == "private":
        write(steps.Put("a", "", 1, changes=(("count", ONE),)), writer)
        return
    writer.helpers.add("cipher")
    writer.say("saver.serde = EncryptedSerializer(Cipher(), saver.serde)")
    put(steps.Put("a", "", 1, changes=tuple(SECRETS.items())), writer)
    put_writes(steps.PutWrites("a", "", 1, 1, (("root", WRITTEN_SECRET),)), writer)


@check_scene.register
def _(step: steps.CheckFiles, writer: ScriptWriter, difference: Difference) -> None:
    write(step, writer)
    if step.look_for == "private":
        writer.say(
            'files = [file for file in Path(path).rglob("*") if file.is_file()]',
            "modes = {file.name: file.stat().st_mode & 0o777 for file in files}",
        )
        compare(
            writer,
            "{name: oct(mode) for name, mode in modes.items() if mode & 0o077}",
            "{}",
            "observed",
        )
        return
    # Only what is closed is sure to be in the files.
    writer.close()
    secrets = tuple(map(as_bytes, (*SECRETS.values(), WRITTEN_SECRET)))
    writer.say(
        'stored = b"".join(file.read_bytes() for file in Path(path).rglob("*") if file.is_file())',
        f"secrets = {secrets}",
    )
    compare(writer, "[secret for secret in secrets if secret in stored]", "[]", "observed")


# --- event loops -------------------------------------------------------------------------------


@check_scene.register
def _(step: steps.CallOnLoop, writer: ScriptWriter, difference: Difference) -> None:
    """The script's own thread waits for the one whose event loop makes the call."""
    writer.patience_s = PATIENCE_S
    config = writer.config(step.thread, "", 1)
    match step.operation:
        case "get_tuple":
            call = f"saver.get_tuple({config})"
        case "list":
            call = f"list(saver.list({config}))"
        case "delete_thread":
            call = f"saver.delete_thread({quoted(step.thread)})"
        case "put":
            made = steps.Put(step.thread, "", 1, changes=(("count", ONE),))
            given = put_arguments(made, writer.plan(made), writer).values()
            call = f"saver.put({', '.join(given)})"
        case "put_writes":
            call = f'saver.put_writes({config}, [("count", 1)], {writer.task(1)})'
        case unknown:
            raise NoScriptError(f"no call of {unknown!r} on a loop")
    writer.say("with contextlib.suppress(Exception):", f"    {call}")
