"""The field: ``make field`` judges released savers; the page docs/field.md is made of the results.

    .ci/field.py run [NAME...]     judge what field/packages.toml names, or these savers of it
    .ci/field.py again             judge musts drawn by seed once more, each alone
    .ci/field.py page              print docs/field.md
    .ci/field.py picture           print docs/field.svg, its matrix
    .ci/field.py known             write the files of known flaws that the kit ships

Each release is judged in an environment of its own, with the quick profile and seed 0. Of its
report only what the page needs stays, in field/results.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

import click
from field_drawing import draw, note
from field_judging import judged, shown_again
from field_known import shipped
from field_packages import ROOT, Release, packages
from field_page import page
from field_picture import picture
from field_results import RESULTS, Result, write

from saverproof.run.known.shipped_files import FOLDER as SHIPPED


@click.group(help=__doc__)
def main() -> None:
    """Read the name of a step."""


@main.command("run")
@click.argument("names", nargs=-1)
@click.option("--only-missing", is_flag=True, help="Judge only what has no result yet.")
@click.option("--jobs", default=1, type=click.IntRange(1, 2), help="How many at once.")
@click.option("--limit", default=30.0, metavar="MINUTES", help="How long a release may take.")
@click.option("--budget", default="2m", help="The --saver-budget of a release.")
@click.option("--keep", type=click.Path(path_type=Path), help="Keep reports and scripts there.")
def run_all(
    names: tuple[str, ...],
    only_missing: bool,
    jobs: int,
    limit: float,
    budget: str,
    keep: Path | None,
) -> None:
    """Judge the releases, those of NAMES alone if some are given.

    A release that cannot be installed, opened or judged in time gets a result that says so, and
    the others are judged all the same.
    """
    known = {release.name for release in packages()}
    if strange := set(names) - known:
        raise click.UsageError(
            f"found {min(strange)!r}, expected one of {', '.join(sorted(known))}"
        )
    asked = [release for release in packages() if not names or release.name in names]
    if only_missing:
        asked = [one for one in asked if not (RESULTS / f"{one.stem}.json").exists()]
    with _wheel() as kit, ThreadPoolExecutor(jobs) as pool:
        started = {
            pool.submit(_one, release, kit, keep, limit * 60, budget): release for release in asked
        }
        for number, done in enumerate(as_completed(started), 1):
            click.echo(f"{number} of {len(asked)}  {started[done].stem}: {done.result()}")


def _one(release: Release, kit: Path, keep: Path | None, limit_s: float, budget: str) -> str:
    """Judge a release and write its result; return both in words."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="saverproof-field-") as name:
        folder = Path(name)
        # A server from a wheel is in the environment, and runs as a user who is not root.
        folder.chmod(0o755)
        result = judged(release, kit, folder, limit_s, budget)
        if keep is not None and (folder / "report").is_dir():
            shutil.copytree(folder / "report", keep / release.stem, dirs_exist_ok=True)
    write(result)
    return f"{_in_words(result)} ({time.monotonic() - started:.0f} s)"


def _in_words(result: Result) -> str:
    if "failed" in result:
        return f"not judged, {result['failed']['step']}: {result['failed']['said']}"
    return str(result["sentence"])


@contextmanager
def _wheel() -> Iterator[Path]:
    """Build the kit once, for all environments."""
    with tempfile.TemporaryDirectory(prefix="saverproof-field-kit-") as folder:
        build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder]
        subprocess.run([*build, str(ROOT)], check=True)
        (wheel,) = Path(folder).glob("*.whl")
        yield wheel


@main.command("again")
@click.option("--count", default=30, help="How many of the broken musts on the page.")
@click.option("--seed", default=0, help="The seed by which they are drawn.")
@click.option("--limit", default=10.0, metavar="MINUTES", help="How long a release may take.")
def judge_again(count: int, seed: int, limit: float) -> None:
    """Draw broken musts by seed, find each anew without the others, and run its script alone.

    What came of it goes to field/drawn.json, and the page says it.
    """
    drawn = draw(count, seed)
    with _wheel() as kit:
        for release, names in drawn:
            with tempfile.TemporaryDirectory(prefix="saverproof-field-") as name:
                folder = Path(name)
                folder.chmod(0o755)
                found = shown_again(release, names, kit, folder, limit * 60)
            for contract in names:
                note(release, contract, seed, found.get(contract))
                click.echo(f"{release.stem}: {contract}: {found.get(contract, 'not seen')}")


@main.command("page")
def print_page() -> None:
    """Print docs/field.md."""
    click.echo(page(), nl=False)


@main.command("picture")
def print_picture() -> None:
    """Print docs/field.svg."""
    click.echo(picture(), nl=False)


@main.command("known")
def write_known() -> None:
    """Write the files of known flaws that the kit ships, and remove what is none of them."""
    texts = shipped()
    for path in SHIPPED.glob("*.toml"):
        if path.stem not in texts:
            path.unlink()
    for name, text in texts.items():
        (SHIPPED / f"{name}.toml").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
