"""Scripts of a saver that is not installed name its folder from where they lie."""

import subprocess
import sys
from pathlib import Path

from saverproof.run.plugin.script_paths import from_its_place

SCRIPT = """import sys

sys.path.insert(0, {0!r})
sys.path.insert(0, {1!r})
import mine
import mine_too

print(mine.NAME, mine_too.NAME)
"""


def test_a_script_finds_the_project_from_any_folder(tmp_path: Path) -> None:
    for folder, module in (("", "mine"), ("src", "mine_too")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / f"{module}.py").write_text(f"NAME = {module!r}\n")
    place = tmp_path / ".saverproof" / "reproducers"
    place.mkdir(parents=True)
    source = SCRIPT.format(str(tmp_path), str(tmp_path / "src"))
    script = place / "one.py"
    script.write_text(from_its_place(source, tmp_path, place))
    assert str(tmp_path) not in script.read_text()
    ran = subprocess.run(
        [sys.executable, str(script)], cwd="/", capture_output=True, text=True, check=True
    )
    assert ran.stdout == "mine mine_too\n"


def test_folders_of_others_stay() -> None:
    line = "sys.path.insert(0, '/opt/theirs')"
    assert from_its_place(line, Path("/home/me"), Path("/home/me/.saverproof/reproducers")) == line
