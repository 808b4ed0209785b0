"""Collect the packaged suite alone, whatever project pytest was started in."""

import copy
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

SUITE = Path(__file__).parents[2] / "suite" / "packaged.saverproof"
"""The file that stands for the packaged suite."""

NODE = "saverproof"
"""The node id of the packaged suite."""

ALONE = pytest.StashKey[bool]()

_CONTRACT = re.compile(r"(?P<file>.+)::(?P<contract>[a-z-]+/[a-z0-9-]+)\[(?P<through>[^\]]+)\]")
_ITEM = re.compile(r".+::(?P<item>[a-z-]+\[[^\]]+\])")


@dataclass(frozen=True, slots=True)
class AskedByNodeIds:
    """The contracts and items that node ids on the command line ask for.

    Attributes:
        contracts: ids of contracts, each with what it is judged on: a saver and an API
            ("toy-sync"), or a saver through all of its APIs ("toy").
        items: names of whole items ("upsert[toy-sync]").
    """

    contracts: tuple[tuple[str, str], ...]
    items: tuple[str, ...]


ASKED = pytest.StashKey[AskedByNodeIds]()
"""Set if the command line has the node id of a contract, in the form of ``-v`` and JUnit XML."""


def redirect(config: pytest.Config, parser: pytest.Parser, args: list[str]) -> None:
    """Make pytest collect the packaged suite if the command line names no files.

    The project's conftest files are not loaded then, and its ``addopts`` do not count: they were
    written for its own tests (a marker expression, a coverage threshold, a time limit). Its
    ``--saver…`` options still count. Node ids of the suite (``saverproof::…``) may stand in place
    of files; the node id of a contract stands for the items of its family.
    """
    named = typed_files(config, parser)
    _note_contracts(config, named)
    args[:] = _with_items(args, named)
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


def typed_files(config: pytest.Config, parser: pytest.Parser) -> list[str]:
    """Return the files, folders and node ids on the command line."""
    typed = [str(argument) for argument in config.invocation_params.args]
    named: list[str] = parser.parse_known_args(
        typed, namespace=copy.copy(config.option)
    ).file_or_dir
    return named


def _note_contracts(config: pytest.Config, named: list[str]) -> None:
    contracts = [found for one in named if (found := _CONTRACT.fullmatch(one))]
    if contracts:
        items = [found["item"] for one in named if (found := _ITEM.fullmatch(one))]
        asked = tuple((found["contract"], found["through"]) for found in contracts)
        config.stash[ASKED] = AskedByNodeIds(asked, tuple(items))


def _with_items(args: list[str], named: list[str]) -> list[str]:
    """Return the arguments, with each of ``named`` in the form that pytest can collect, once."""
    kept: list[str] = []
    for argument in args:
        if argument not in named:
            kept.append(argument)
        elif (collected := _collected(argument)) not in kept:
            kept.append(collected)
    return kept


def _collected(argument: str) -> str:
    """Return what pytest collects for a file or node id."""
    if found := _CONTRACT.fullmatch(argument):
        # Every item of the family, of whatever saver and API: what was not asked for goes later.
        argument = f"{found['file']}::{found['contract'].partition('/')[0]}"
    return f"{SUITE}{argument.removeprefix(NODE)}" if _is_node(argument) else argument


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
