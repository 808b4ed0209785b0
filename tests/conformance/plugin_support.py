"""Running pytest as a user does: in a child process, in a folder of its own."""

import atexit
import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.conformance.forked_runs import SAID, SLOW_PLUGINS, run
from tests.conformance.script_runs import PATIENCE_S, ScriptRuns
from tests.conformance.shared_forks import FAKE_JUDGING, SERVICES, share_forks

from saverproof.contracts.registry import contracts
from saverproof.process.scratch import in_memory, scratch_folder

FAKE_JUDGE = '''
"""A judge that finds what script.json tells it to find."""
import hashlib, json, os, sys, threading, time
from dataclasses import asdict
from pathlib import Path
from saverproof.families.requests import BLAME, CLEAN, IS_SPENT, JUDGE, RELEASE, REPLAY
from saverproof.contracts.registry import contracts
from saverproof.errors import OpeningError
from saverproof.process import heartbeat
from saverproof.process.requests import Handlers, Service
from saverproof.process.server import serve


def judge(plan, progress):
    plan = asdict(plan)
    script = Path("script.json")
    acts = json.loads(script.read_text()) if script.exists() else {}
    act = acts.get(f"{plan['family']}-{plan['api']}", acts.get(plan["family"], {}))
    with open("judged", "a") as judged:
        print(plan["family"], file=judged)
    if plan["journal"]:
        last = f'{{"step": "{act["last"]}"}}' if "last" in act else '{"op": "get"}'
        Path(plan["journal"]).write_text(f'{{"op": "put"}}\\n{last}\\n{{"op":')
    heartbeat.beat(2)
    if "kept" in act:
        progress({"kept": act["kept"]})
    match act.get("do"):
        case "crash":
            import ctypes
            ctypes.string_at(0)
        case "exit":
            os._exit(7)
        case "hang":
            threading.Event().wait()
        case "work":
            while True:
                pass
        case "crash once" if not plan["journal"]:
            os._exit(7)
        case "break":
            raise RuntimeError("the kit is broken")
        case "refuse":
            raise OpeningError("target 'toy': opening raised OSError: disk full")
        case "tell until seen":
            while not Path("seen").exists():
                progress({"operations": 12_000, "faults": 3, "kills": 0})
                time.sleep(0.02)
        case "tell for a while":
            for _ in range(20):
                progress({"operations": 12_000})
                time.sleep(0.02)
        case "give up":
            from saverproof.families.atomicity.trials.worker import Worker
            Worker()
            with open("judges", "a") as judges:
                print(os.getpid(), file=judges)
        case "print":
            print("printed by the saver \\x1b[31m")
    ids = [contract.id for contract in contracts(plan["family"])]
    findings, handed = (
      [
        {"contract": found, "api": plan["api"], "phase": "functional", "summary": "it is gone",
         "expected": "[1, 2]", "observed": "[1] \\ud800", "steps": ["put a", "get a"],
         "program": [{"op": "put"}], "reproducer": "raise SystemExit('still there')\\n",
         **(found if isinstance(found, dict) else {})}
        for found in act.get(kind, [])
      ]
      for kind in ("findings", "handed")
    )
    judged = [] if act.get("do") == "nothing" else set(ids) - set(act.get("unreached", []))
    checked = dict.fromkeys(judged, 10)
    return {"checked": checked, "findings": findings, "unknown": act.get("unknown", {}),
            "inapplicable": {}, "unexercised": act.get("unexercised", {}), "operations": 100,
            "saver_s": 0.1, "total_s": 0.2, "extra": act.get("extra", {}),
            "unsettled": act.get("unsettled", {}), "handed": handed,
            "hidden_by": act.get("hidden_by", {})}


def replay(data, progress):
    acts = json.loads(Path("script.json").read_text())
    act = acts.get("replay", {})
    if act.get("do") == "hang":
        threading.Event().wait()
    with open("replays", "a+") as replays:
        replays.seek(0)
        number = len(replays.read())
        replays.write(".")
    later = act.pop("later", [])
    act |= later[number] if number < len(later) else {}
    return {"status": "fixed", "said": "it shows nothing", "expected": "", "observed": "", **act}


def blame(death, progress):
    contract = {"filter": "filter/equality"}.get(death.plan.family, "upsert/put-replaces")
    return {"contract": contract, "steps": [str(step) for step in death.journal],
            "program": death.journal, "reproducer": ""}


def release(nothing, progress):
    pass


def is_spent(nothing, progress):
    from saverproof.families.atomicity.trials.worker import any_left
    return any_left()


def clean(left, progress):
    pass


class InProcess:
    closed = False

    def ask(self, request, data, *, silence_s=None, limit_s=None, listener=None):
        answer = HANDLERS.answer(request, data, listener or (lambda figures: None))
        return request.read_answer(answer)

    def take_output(self):
        return ""

    def close(self):
        pass


HANDLERS = Handlers()
for request, function in (
    (JUDGE, judge), (BLAME, blame), (REPLAY, replay), (IS_SPENT, is_spent), (CLEAN, clean),
    (RELEASE, release)
):
    HANDLERS.add(request, function)


def probed_once(probe):
    """To get to know the same target again and again takes longer than most tests."""
    def remembered(ref, *given):
        source = Path(ref.file).read_text() if ref.file else ref.module
        key = hashlib.sha256(f"{ref.attribute} {ref.saver} {source}".encode()).hexdigest()
        facts = Path(os.environ["FAKE_FACTS"], key)
        if facts.exists():
            return {**json.loads(facts.read_text()), "ref": ref.to_json()}
        found = probe(ref, *given)
        # Paths in them are of one project.
        if found["known"] is None and not found.get("examples"):
            facts.with_suffix(f".{os.getpid()}").write_text(json.dumps(found))
            facts.with_suffix(f".{os.getpid()}").rename(facts)
        return found
    return remembered


if __name__ == "__main__":
    serve(HANDLERS, *map(int, sys.argv[1:]))
else:
    # The process that judges does not need it, and would import it for longer than it lives.
    import saverproof.run.plugin.starting as starting
    starting.JUDGING = Service(os.environ.get("FAKE_SERVICE", "fake_judge"))
    starting.IN_PROCESS = "fake_judge"
    starting.probe = probed_once(starting.probe)
    # What the kit knows of InMemorySaver, on which toys are built, changes with its releases.
    import saverproof.run.known.shipped_files as shipped_files
    shipped_files.FOLDER = Path("shipped").absolute()
'''

TOY = """
from contextlib import contextmanager
from saverproof import Workspace, target
from langgraph.checkpoint.memory import InMemorySaver

@target(durable=False)
@contextmanager
def toy(workspace: Workspace):
    yield InMemorySaver()
"""


BAD = """
from contextlib import asynccontextmanager, contextmanager
from langgraph.checkpoint.memory import InMemorySaver
from saverproof import target
from saverproof_faults import ClassDriver
import asyncio, os, threading, ctypes

number = 3

def opener(body, **options):
    @target(name=body.__name__, **options)
    @contextmanager
    def function(workspace):
        yield from body(workspace)
    return function

def _driver(workspace):
    yield InMemorySaver()

def _raises(workspace):
    raise ConnectionError("no server\\nat all")
    yield

def _forgets(workspace):
    yield InMemorySaver()

kept = {}
def _keeps_in_process(workspace):
    yield kept.setdefault(workspace.name, InMemorySaver())

def _none(workspace):
    yield None

def _hangs(workspace):
    threading.Event().wait()
    yield

def _never_closes(workspace):
    yield InMemorySaver()
    threading.Event().wait()

async def _never_closes_on_its_loop(workspace):
    yield InMemorySaver()
    await asyncio.Event().wait()

def _exits(workspace):
    print("could not go on")
    os._exit(3)
    yield

def _crashes(workspace):
    ctypes.string_at(0)
    yield

def _dictionary(workspace):
    yield {}

def _leaves(workspace):
    raise SystemExit("no licence")
    yield

def _bare(workspace):
    yield object()

def _never_yields(workspace):
    yield from ()

def _yields_again(workspace):
    yield InMemorySaver()
    yield InMemorySaver()

def _uses_another(workspace):
    with contextmanager(_never_yields)(workspace):
        yield InMemorySaver()

class Broken(InMemorySaver):
    def put(self, *args, **kwargs):
        raise LookupError("no such table")
    aput = put

def _broken(workspace):
    yield Broken()

raises, forgets, keeps_in_process, none, hangs, exits, crashes, dictionary = map(
    opener, (_raises, _forgets, _keeps_in_process, _none, _hangs, _exits, _crashes, _dictionary)
)
never_closes = opener(_never_closes, durable=False)
never_closes_on_its_loop = target(durable=False)(asynccontextmanager(_never_closes_on_its_loop))
broken = opener(_broken, durable=False)
leaves, bare = opener(_leaves), opener(_bare)
never_yields, yields_again = opener(_never_yields), opener(_yields_again, durable=False)
uses_another = opener(_uses_another)
nameless, unfinished, no_python = (
    opener(_driver, durable=False, opening=text)
    for text in ("Nowhere(path)", "import os; x = os.sep", "Nowhere(path")
)
without_errors = ClassDriver("json", ("json",), "json", {"json:JSONDecoder.decode": "execute"})
driver = opener(_driver, durable=False, drivers=[without_errors])

def generator(workspace):
    yield InMemorySaver()

def twice(workspace, other):
    return InMemorySaver()
"""

_UNTIL_THE_END = ExitStack()
atexit.register(_UNTIL_THE_END.close)
FACTS = _UNTIL_THE_END.enter_context(scratch_folder(root=in_memory()))
"""What is known of the targets of this process's tests; gone when it ends."""
_ORDERS = _UNTIL_THE_END.enter_context(scratch_folder(root=in_memory()))
_RUNS = ScriptRuns("tests.conformance.preloaded_pytest")


def count(*families: str) -> int:
    """How many contracts these families have: each is a test by itself."""
    return sum(len(contracts(family)) for family in families)


@dataclass(frozen=True, slots=True)
class Result:
    """How a run of pytest, or of the command line, ended."""

    status: int
    output: str
    folder: Path

    @property
    def outcomes(self) -> dict[str, int]:
        """The counts of pytest's last line: passed, failed, skipped, deselected."""
        last = self.output.strip().splitlines()[-1]
        return {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", last)}

    @property
    def ran(self) -> dict[str, int]:
        """The same without what was deselected, which grows with each new family."""
        return {word: times for word, times in self.outcomes.items() if word != "deselected"}

    @property
    def errors(self) -> list[str]:
        """The lines with which pytest reports a usage error."""
        return [line for line in self.output.splitlines() if line.startswith("ERROR: ")]

    def report(self, folder: str = ".saverproof") -> Any:
        """report.json as data."""
        return json.loads((self.folder / folder / "report.json").read_text())


class Project:
    """A folder in which pytest is started, with a target ``toys.py:toy`` in it."""

    def __init__(self, folder: Path) -> None:
        share_forks()
        self.folder = folder
        self.write("toys.py", TOY)

    def write(self, name: str, text: str) -> Path:
        """Put a file into the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def script(self, **acts: dict[str, Any]) -> None:
        """Tell the fake judge what to find, by family (``_`` for ``-``)."""
        named = {name.replace("_", "-"): act for name, act in acts.items()}
        self.write("script.json", json.dumps(named))

    def pytest(self, *arguments: str, **environment: str) -> Result:
        """Run pytest here, without the plugins that take seconds to import."""
        without = () if any("hypothesis" in argument for argument in arguments) else SLOW_PLUGINS
        return self._run("pytest:console_main", [*without, *arguments], environment, [self.folder])

    def judge(self, *arguments: str, saver: str = "toys.py:toy", **environment: str) -> Result:
        """Run pytest here with ``--saver`` and the fake judge."""
        self.write("fake/fake_judge.py", FAKE_JUDGE)
        path = os.pathsep.join([str(self.folder / "fake"), str(SERVICES)])
        fake = {"FAKE_FACTS": str(FACTS), "FAKE_SERVICE": FAKE_JUDGING.module}
        return self.pytest(
            *("-p", "fake_judge", f"--saver={saver}", *arguments),
            **{"PYTHONPATH": path, **fake, **environment},
        )

    def saverproof(self, *arguments: str, **environment: str) -> Result:
        """Run the command line here."""
        return self._run("saverproof.run.cli:main", arguments, environment)

    def run(self, *command: str, **environment: str) -> Result:
        """Run any command here."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=_without_our_own(environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=PATIENCE_S,
            check=False,
        )
        return Result(done.returncode, done.stdout, self.folder)

    def _run(
        self,
        main: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        path: Sequence[Path] = (),
    ) -> Result:
        """Run a main function as a new interpreter does that starts in this folder."""
        order = {
            "main": main,
            "arguments": arguments,
            "folder": str(self.folder),
            "environment": _without_our_own(environment),
            "path": [str(folder) for folder in path],
        }
        with TemporaryDirectory(dir=_ORDERS) as name:
            folder = Path(name)
            (folder / "order").write_text(json.dumps(order), encoding="utf-8")
            script = folder / "script.py"
            script.write_text(
                f"from {run.__module__} import {run.__name__}\n{run.__name__}('order')\n"
            )
            status, _ = _RUNS.run(script)
            return Result(status, (folder / SAID).read_text("utf-8", "replace"), self.folder)


def _without_our_own(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without what the surrounding run of pytest set.

    Nor what says that this is CI: pytest writes longer summaries there.
    """
    inherited = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("PYTEST") and key not in ("CI", "BUILD_NUMBER")
    }
    return {**inherited, "COLUMNS": "200", **environment}
