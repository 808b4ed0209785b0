"""The script of one program: what the writer has written, with the saver open around it."""

from __future__ import annotations

from saverproof.scripts.formatting import indented
from saverproof.scripts.helpers import helpers
from saverproof.scripts.opening import Opening
from saverproof.scripts.script import complaint, main, script
from saverproof.scripts.writer import ScriptWriter


def program_script(writer: ScriptWriter, opening: Opening, promise: str, saver: str) -> str:
    """The whole script."""
    if len(writer.blocks) > 1:
        writer.helpers.add("opened")
    body = [*_in_time(writer, _with_saver(writer, opening))]
    return script(promise, saver, opening, [*helpers(writer, opening), *body], writer.imports)


def _with_saver(writer: ScriptWriter, opening: Opening) -> list[str]:
    expression = "opened(path)" if "opened" in writer.helpers else ""
    lines = [
        line for block in writer.blocks for line in opening.opened(block, expression=expression)
    ]
    if writer.guard:
        message = complaint(writer.guard, "raised {error!r:.1000}")
        handler = ["except Exception as error:", f"    {message} from error"]
        lines = ["try:", *indented(lines), *handler]
    return opening.in_folder([*lines, *(writer.after or [])])


def _in_time(writer: ScriptWriter, lines: list[str]) -> list[str]:
    """The lines as a program of their own, which may have to end within the writer's patience."""
    if not writer.patience_s:
        return main(lines, coroutine=writer.calls.in_coroutine)
    observed = f"nothing in {writer.patience_s:g} s"
    return [
        *main(lines, coroutine=True)[:-1],
        "worker = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)",
        "worker.start()",
        f"worker.join({writer.patience_s:g})",
        "if worker.is_alive():",
        f"    {complaint('an answer or an exception', observed)}",
    ]
