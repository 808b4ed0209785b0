"""Releases: ``make release VERSION=2026.12.0`` takes all the steps (CONTRIBUTING.md)."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import click

ROOT = Path(__file__).parents[1]
FRAGMENTS = ROOT / "changes"
VERSION = re.compile(r"20\d\d\.(?:[1-9]|1[0-2])\.(?:0|[1-9]\d*)")
"""Year, month, and a number within the month, without leading zeros: pip drops those anyway."""


_WRITTEN = (
    *("CHANGELOG.md", "CITATION.cff", "pyproject.toml", "changes"),
    "conformance/saverproof/contracts/sets.json",
)
"""What a release changes."""


class ReleaseError(click.ClickException):
    """Why there can be no release, in one line."""


def make(version: str) -> None:
    """Write version and changelog, build and check the distributions, commit, and tag."""
    tag = f"v{version}"
    objections = [*objections_to(version), *_objections_of_git(tag)]
    if objections:
        raise ReleaseError("; ".join(objections))
    today = datetime.now(UTC).date().isoformat()
    write_version(version, today)
    write_changelog(version, today)
    # What this release promises can be pinned from now on.
    _run(sys.executable, "-m", "saverproof.contracts.sets", version)
    # Before the commit: a wheel that is not good leaves nothing behind but changed files.
    _run("make", "wheel")
    _run("git", "add", "--all", *_WRITTEN)
    _run("git", "commit", "--message", f"release: {version}")
    _run("git", "tag", "--annotate", tag, "--message", f"saverproof {version}")
    click.echo(f"{tag} is ready: git push origin main {tag} publishes it")


def objections_to(version: str) -> list[str]:
    """Say why a version cannot be released from these files."""
    if not VERSION.fullmatch(version):
        return [f"VERSION is {version!r}, expected a date such as 2026.12.0 (year, month, patch)"]
    waiting = sorted(one.name for one in fragments())
    if f"## {version} (unreleased)" not in _read("CHANGELOG.md"):
        return [] if waiting else ["changes/ holds no fragment: nothing has changed for users"]
    if waiting:
        # Only the first release has a page of its own: nobody had what it would be a change to.
        return [f"CHANGELOG.md tells of {version} by hand: put {', '.join(waiting)} there as well"]
    return []


def fragments() -> list[Path]:
    """List the fragments of the changelog that wait for a release."""
    return [one for one in FRAGMENTS.glob("*.md") if one.name != "README.md"]


def write_version(version: str, day: str) -> None:
    """Put the version where it is said: in the project's metadata and in the citation."""
    _replace("pyproject.toml", r'^version = ".*"$', f'version = "{version}"')
    _replace("CITATION.cff", r"^version: .*$(\ndate-released: .*$)?", _citation(version, day))


def write_changelog(version: str, day: str) -> None:
    """Date the section that was written by hand, or make one of the fragments."""
    heading = f"## {version} (unreleased)"
    if heading in _read("CHANGELOG.md"):
        _replace("CHANGELOG.md", re.escape(heading), f"## {version} ({day})")
    else:
        towncrier = str(Path(sys.executable).with_name("towncrier"))
        _run(towncrier, "build", "--yes", "--version", version, "--date", day)


def notes() -> str:
    """Return the section of the newest release, without its heading."""
    version = project_version()
    pattern = rf"^## {re.escape(version)} .*?\n(.*?)(?=^## |\Z)"
    section = re.search(pattern, _read("CHANGELOG.md"), re.DOTALL | re.MULTILINE)
    if section is None:
        raise ReleaseError(f"CHANGELOG.md has no section of {version}")
    return section[1].strip()


def tagged(tag: str) -> None:
    """Refuse a tag that is not the one of the version in the metadata."""
    expected = f"v{project_version()}"
    if tag != expected:
        raise ReleaseError(f"the tag is {tag!r}, expected {expected!r} (pyproject.toml)")


def project_version() -> str:
    """Return the version that pyproject.toml says."""
    return str(tomllib.loads(_read("pyproject.toml"))["project"]["version"])


def _citation(version: str, day: str) -> str:
    return f"version: {version}\ndate-released: {day}"


def _objections_of_git(tag: str) -> list[str]:
    branch = _output("git", "branch", "--show-current")
    found = []
    if branch != "main":
        found.append(f"this is branch {branch or 'none'}, expected main")
    if _output("git", "status", "--porcelain"):
        found.append("there are changes that are not committed")
    if _output("git", "tag", "--list", tag):
        found.append(f"the tag {tag} exists")
    return found


def _read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def _replace(name: str, pattern: str, text: str) -> None:
    new, count = re.subn(pattern, lambda _: text, _read(name), flags=re.MULTILINE)
    if count != 1:
        raise ReleaseError(f"{name}: {pattern!r} is there {count} times, expected once")
    (ROOT / name).write_text(new, "utf-8")


def _output(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _run(*command: str) -> None:
    if subprocess.run(command, cwd=ROOT, check=False).returncode:
        raise ReleaseError(f"this failed: {' '.join(command)}")


@click.group(help=__doc__)
def main() -> None:
    """Read the name of a step."""


@main.command("make")
@click.argument("version")
def make_command(version: str) -> None:
    """Take all the steps of a release, up to the tag."""
    make(version)


@main.command("tagged")
@click.argument("tag")
def tagged_command(tag: str) -> None:
    """Check that a tag is the one of the project's version."""
    tagged(tag)


@main.command("notes")
def notes_command() -> None:
    """Print what the changelog says of the project's version."""
    click.echo(notes())


if __name__ == "__main__":
    main()
