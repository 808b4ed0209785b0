"""Collecting the packaged suite alone, whatever the project is in which pytest was started."""

import copy
from pathlib import Path

import pytest

SUITE = Path(__file__).parent.parent / "suite" / "packaged.saverproof"
"""The file that stands for the packaged suite."""

NODE = "saverproof"
"""Its node id."""

ALONE = pytest.StashKey[bool]()


def redirect(config: pytest.Config, parser: pytest.Parser, args: list[str]) -> None:
    """Make pytest collect the packaged suite if the command line names no files.

    The project's conftest files are then not loaded, and its ``addopts`` do not count: they were
    written for its own tests (a marker expression, a coverage threshold, a time limit). Its
    ``--saver…`` options do. Node ids of the suite (``saverproof::…``) may stand for files.
    """
    typed = [str(argument) for argument in config.invocation_params.args]
    named = parser.parse_known_args(typed, namespace=copy.copy(config.option)).file_or_dir
    for number, argument in enumerate(args):
        if argument in named and _is_node(argument):
            args[number] = f"{SUITE}{argument.removeprefix(NODE)}"
    if any(not _is_node(argument) for argument in named):
        _parse_again(config, parser, args)
        return
    from_ini = list(config.getini("addopts"))
    if args[: len(from_ini)] == from_ini:
        args[: len(from_ini)] = _about_savers(from_ini)
    if not named:
        args.append(str(SUITE))
    _parse_again(config, parser, args)
    config.known_args_namespace.noconftest = True
    # No folder above the suite is collected, so that nothing in it can have a say.
    config.known_args_namespace.confcutdir = str(SUITE)
    config.stash[ALONE] = True


def _is_node(argument: str) -> bool:
    return argument.startswith(f"{NODE}::")


def _parse_again(config: pytest.Config, parser: pytest.Parser, args: list[str]) -> None:
    config.known_args_namespace = parser.parse_known_args(args, namespace=copy.copy(config.option))


def _about_savers(options: list[str]) -> list[str]:
    kept: list[str] = []
    value_follows = False
    for option in options:
        if value_follows and not option.startswith("-"):
            kept.append(option)
            value_follows = False
        elif option.startswith("--saver"):
            kept.append(option)
            value_follows = "=" not in option and option != "--saver-in-process"
        else:
            value_follows = False
    return kept
