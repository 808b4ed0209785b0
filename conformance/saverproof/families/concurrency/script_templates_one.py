"""The texts of standalone scripts in which one caller is enough; ``scripts`` fills them in."""

from saverproof.families.concurrency.iteration import BETWEEN, By
from saverproof.families.concurrency.records import PLACES, CallKind, Operation

CONFIG = 'CONFIG = {"configurable": {"thread_id": "a", "checkpoint_ns": ""}}'
META = '{"source": "input", "step": -1}'

# --- listings ------------------------------------------------------------------------------------

LISTING = f"""\
{CONFIG}
META = {META}


<def> play(saver, path):
    at = [<await>saver.<a>put(CONFIG, empty_checkpoint(), META, {{}}) for _ in range(9)][0]
    calls = [
        <calls>
    ]
    <pool>
    listing = saver.<list>({{"configurable": {{"thread_id": "a"}}}})
    try:
        for call in calls:
            <next>
            <between>
        <rest>
    except Exception as error:
        <stacks>
        os.write(2, f"{{__doc__}}\\nexpected: an answer in 5 s\\nobserved: {{error!r}}\\n".encode())
        shutil.rmtree(path)
        os._exit(1)  # a call that hangs would keep this process
"""

_TASK = "00000000-0000-4000-8000-000000000001"
_IN_SYNC = {
    "pool": "pool = ThreadPoolExecutor(1)",
    "between": "pool.submit(call).result(5)",
    "stacks": "faulthandler.dump_traceback()",
}
_IN_ASYNC = {
    "pool": "",
    "next": "await anext(listing, None)",
    "rest": "[found async for found in listing]",
    "stacks": "[task.print_stack() for task in asyncio.all_tasks()]",
}
_ITSELF = {
    ("sync", True): {
        "next": "pool.submit(next, listing, None).result(5)",
        "rest": "pool.submit(list, listing).result(5)",
    },
    ("sync", False): {"next": "next(listing, None)", "rest": "list(listing)"},
    ("async", True): {"between": "async with asyncio.timeout(5): await call()"},
    ("async", False): {"between": "await asyncio.wait_for(asyncio.ensure_future(call()), 5)"},
}


def words_of_listing(api: str, by: str, calls: list[str]) -> dict[str, str]:
    """What is filled into a script of a listing between whose items these calls are made."""
    words = (_IN_SYNC if api == "sync" else _IN_ASYNC) | _ITSELF[api, by == By.SAME]
    known = {operation.describe(): operation for operation in BETWEEN}
    made = [f"lambda: {_call(known[one], api)}," for one in calls if one in known]
    return words | {"calls": "\n".join(made)}


def _call(operation: Operation, api: str) -> str:
    """The call of an operation, as source."""
    new = operation.kind is CallKind.PUT and bool(PLACES[operation.place][1])
    match operation.kind:
        case CallKind.GET:
            return "saver.<a>get_tuple(at)"
        case CallKind.LATEST:
            return "saver.<a>get_tuple(CONFIG)"
        case CallKind.LIST:
            return "list(saver.list(CONFIG))" if api == "sync" else "anext(saver.alist(CONFIG))"
        case CallKind.WRITES:
            return f'saver.<a>put_writes(at, [("x", 1)], "{_TASK}")'
        case CallKind.DELETE:
            return 'saver.<a>delete_thread("b")'
    config = '{"configurable": {"thread_id": "a", "checkpoint_ns": "new"}}' if new else "at"
    return f"saver.<a>put({config}, empty_checkpoint(), META, {{}})"


# --- reads of what is not there ------------------------------------------------------------------

_ASKED = f"""\
    <await>saver.<a>put(CONFIG, empty_checkpoint(), {META}, {{}})
    unknown = [{{"configurable": {{"thread_id": f"nobody {{n}}"}}}} for n in range(4)]
    <await>saver.<a>get_tuple(unknown.pop())  # the first question may still set something up
"""
_QUESTIONS = """\
    for config in unknown:
        <await>saver.<a>get_tuple(config)
        [found <for> found in saver.<list>(config)]
"""
_SAYS = 'sys.exit(f"{__doc__}\\nexpected: a store that reads do not change\\n'

TRACES = f"""\
{CONFIG}


def dump(path):  # the rows of all tables, and what is in other files
    found = {{}}
    for file in filter(Path.is_file, Path(path).rglob("*")):
        data = file.read_bytes()
        if data.startswith(b"SQLite format 3"):
            found[file.name] = list(sqlite3.connect(file).iterdump())
        elif not file.name.endswith(("-wal", "-shm")):
            found[file.name] = [data]
    return found


<def> play(saver, path):
{_ASKED}\
    before = dump(path)
{_QUESTIONS}\
    for name, rows in dump(path).items():
        more = [row for row in rows if row not in before.get(name, [])]
        if more:
            {_SAYS}"
                     f"observed: in {{name}}, {{more}}")
"""

TRACES_IN_MEMORY = f"""\
{CONFIG}


<def> play(saver):
{_ASKED}\
{_QUESTIONS}\
    for name, value in vars(saver).items():
        if "nobody" in repr(value):
            {_SAYS}"
                     f"observed: saver.{{name}} names what was asked for")
"""
