"""Make a target for one run, so that a class is judged without a file in the author's project."""

from __future__ import annotations

from pathlib import Path

from saverproof.errors import TargetError, one_line
from saverproof.process.environment import Setting
from saverproof.run.scaffold.rendering import function_name, target_text
from saverproof.run.scaffold.requests import NO_CLASS, ClassName, is_file
from saverproof.run.scaffold.trying import Tell, look_at, opening_of, without_known
from saverproof_reports.files import private_folder, write_private

FOLDER = Path(".saverproof", "targets")
"""The folder of targets that were made for one run. `saverproof replay` finds them there
afterwards.
"""


def target_for(saver: str, setting: Setting, tell: Tell) -> str:
    """Return the value of ``--saver`` for ``saver``: itself, or a new target if it is a class.

    Raises:
        TargetError: it cannot be imported, or nothing that was tried opens it.
    """
    wanted = ClassName.read(saver)
    if wanted is None:
        return saver
    try:
        kind = look_at(wanted, setting)
    except TargetError as error:
        # Whatever is wrong with a file, loading it as a target says it.
        if NO_CLASS in error.message or is_file(saver):
            return saver
        raise
    opening, facts = opening_of(kind, setting, tell)
    if facts is None:
        why, *failures = opening.failures
        for failure in failures:
            tell(failure)
        raise TargetError(
            f"{one_line(saver, 80)}: {one_line(why.rstrip('.:'))}; saverproof init "
            f"{one_line(saver, 80)} writes a target to fill in"
        )
    function = function_name(kind)
    file = FOLDER / f"{function}.py"
    private_folder(Path(setting.folder) / FOLDER)
    text = target_text(kind, opening, function.replace("_", "-"), file)
    write_private(Path(setting.folder) / file, without_known(text))
    return f"{file}:{function}"
