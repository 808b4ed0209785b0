"""The texts of standalone scripts; ``scripts`` fills in how the saver is opened and called."""

FROM = (
    "from concurrent.futures import ThreadPoolExecutor",
    "from pathlib import Path",
)

HEAD = """\
IDS = [<ids>]


def config(namespace="", number=None, thread="a"):
    at = {"thread_id": thread, "checkpoint_ns": namespace}
    return {"configurable": at if number is None else at | {"checkpoint_id": IDS[number]}}


<def> put(saver, number, namespace=""):
    version = None
    for _ in range(number + 1):
        version = saver.get_next_version(version, None)
    checkpoint = {"v": 4, "ts": "2026-11-21T00:00:00+00:00", "id": IDS[number], "versions_seen": {},
                  "channel_values": {"x": number}, "channel_versions": {"x": version}}
    at = config(namespace, 0 if number else None)
    <await>saver.<a>put(at, checkpoint, {"source": "loop", "step": number}, {"x": version})


def complain(expected, observed):
    print(f"{__doc__}\\nexpected: {expected}\\nobserved: {observed}", file=sys.stderr, flush=True)
    os._exit(1)  # a thread that hangs would keep this process
"""

MAIN = """

with tempfile.TemporaryDirectory() as path, <opening> as saver:
    show(saver, path)
"""

ASYNC_MAIN = """

async def main():
    with tempfile.TemporaryDirectory() as path:
        <with> <opening> as saver:
            await show(saver, path)


asyncio.run(main())
"""

MANAGED_MAIN = """

async def main():
    with tempfile.TemporaryDirectory() as path:
        async with <opening> as saver:
            await asyncio.to_thread(show, saver, path)


asyncio.run(main())
"""

BETWEEN = """

def calls(saver):
    return {
        "get_tuple": lambda: saver.get_tuple(config()),
        "list": lambda: list(saver.list(config())),
        "put_writes": lambda: saver.put_writes(config("", 0), [("x", 1)], IDS[4]),
        "put": lambda: put(saver, 3),
        "put in a new namespace": lambda: put(saver, 0, "child"),
        "delete_thread": lambda: saver.delete_thread("b"),
    }


def between(saver, call):
    listing = saver.list({"configurable": {"thread_id": "a"}})
    next(listing)
    call()
    list(listing)


def show(saver, path):
    pool = ThreadPoolExecutor()
    for number in range(3):
        put(saver, number)
    for name, call in calls(saver).items():
        attempts = {"the same thread": lambda: pool.submit(between, saver, call).result(3)}
        listing = saver.list({"configurable": {"thread_id": "a"}})
        attempts["another thread"] = lambda: (next(listing), pool.submit(call).result(3))
        for who, attempt in attempts.items():
            try:
                attempt()
            except TimeoutError:
                faulthandler.dump_traceback()
                complain("an answer", f"{name} by {who}, between two items of list: none in 3 s")
            except Exception as error:
                complain("no error", f"{name} by {who}, between two items of list: {error!r}")
        listing.close()
"""

ASYNC_BETWEEN = """

def calls(saver):
    async def listed():
        return [found async for found in saver.alist(config())]

    return {
        "aget_tuple": lambda: saver.aget_tuple(config()),
        "alist": listed,
        "aput_writes": lambda: saver.aput_writes(config("", 0), [("x", 1)], IDS[4]),
        "aput": lambda: put(saver, 3),
        "aput in a new namespace": lambda: put(saver, 0, "child"),
        "adelete_thread": lambda: saver.adelete_thread("b"),
    }


async def show(saver, path):
    for number in range(3):
        await put(saver, number)
    for name, call in calls(saver).items():
        listing = saver.alist({"configurable": {"thread_id": "a"}})
        await anext(listing)
        done, waiting = await asyncio.wait([asyncio.create_task(call())], timeout=3)
        for task in waiting:
            task.print_stack()
            complain("an answer", f"{name} between two items of alist: none in 3 s")
        try:
            [task.result() for task in done]
            [found async for found in listing]
        except Exception as error:
            complain("no error", f"{name} between two items of alist: {error!r}")
"""

TRACES = """

def dump(path):
    found = {}
    for file in sorted(Path(path).rglob("*")):
        data = file.read_bytes() if file.is_file() else b""
        if data.startswith(b"SQLite format 3"):
            found[file.name] = list(sqlite3.connect(file).iterdump())
        elif not file.name.endswith(("-wal", "-shm")):
            found[file.name] = data
    return found


<def> show(saver, path):
    <await>put(saver, 0)
    <await>saver.<a>get_tuple(config(thread="nobody"))
    before = dump(path)
    for number in range(3):
        <await>saver.<a>get_tuple(config(thread=f"nobody {number}"))
        [found <for> found in saver.<list>(config(thread=f"nobody {number}"))]
    after = dump(path)
    for name in after:
        if after[name] != before.get(name):
            more = [line for line in after[name] if line not in before.get(name, ())]
            complain("a store that reads do not change", f"{name}: {more}")
"""

TRACES_IN_MEMORY = """

<def> show(saver, path):
    <await>put(saver, 0)
    <await>saver.<a>get_tuple(config(thread="nobody"))
    [found <for> found in saver.<list>(config(thread="nobody"))]
    for name, value in vars(saver).items():
        if "nobody" in repr(value):
            complain("a store that reads do not change", f"saver.{name} names what was asked for")
"""

_CHECKED = """

<def> work(saver, caller, number):
    for turn in range(15):
        task = f"00000000-0000-4000-8000-{caller:04}{turn:08}"
        <await>saver.<a>put_writes(config("", number), [("x", n) for n in range(10)], task)
        check(<await>saver.<a>get_tuple(config("", number)))
        [check(found) <for> found in saver.<list>(config("", number))]


def check(found):
    tasks = [task for task, *_ in found.pending_writes]
    part = {task: tasks.count(task) for task in tasks if tasks.count(task) != 10}
    if part:
        complain("batches of 10 writes, each whole", f"{part}")
"""

_WHOLE = """
        found = <await>saver.<a>get_tuple(config("", number))
        tasks = {task for task, *_ in found.pending_writes}
        if len(tasks) != 4 * 15:
            complain("60 batches, all acknowledged", f"{len(tasks)} of them")
"""

CROWD = (
    _CHECKED
    + """

def show(saver, path):
    sys.setswitchinterval(1e-6)
    pool = ThreadPoolExecutor(4)
    for number in range(5):
        put(saver, number)
        answers = [pool.submit(work, saver, caller, number) for caller in range(4)]
        try:
            [answer.result() for answer in answers]
        except Exception as error:
            complain("no error", f"{error!r}")
"""
    + _WHOLE.lstrip("\n")
)

ASYNC_CROWD = (
    _CHECKED
    + """

async def show(saver, path):
    for number in range(5):
        await put(saver, number)
        try:
            await asyncio.gather(*[work(saver, caller, number) for caller in range(4)])
        except Exception as error:
            complain("no error", f"{error!r}")
"""
    + _WHOLE.lstrip("\n")
)

FIRST = """

<def> show():
    with tempfile.TemporaryDirectory() as path:
        # Another process is about to set the file up, and done with it in a second.
        other = sqlite3.connect(path + "/<file>", isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        threading.Timer(1, other.execute, ["ROLLBACK"]).start()
        try:
            <with> <opening> as saver:
                <await>put(saver, 0)
        except Exception as error:
            complain("a put that waits for its turn", f"{error!r}")


"""

PROCESSES = """

def work(path, caller):
    with <opening> as saver:
        put(saver, 0)
        for turn in range(30):
            task = f"00000000-0000-4000-8000-{caller:04}{turn:08}"
            try:
                saver.put_writes(config("", 0), [("x", n) for n in range(3)], task)
            except Exception as error:
                print(f"advice: {error!r}", file=sys.stderr)
            else:
                print(task, flush=True)


def show(path):
    command = [sys.executable, __file__, path]
    started = [subprocess.Popen([*command, str(n)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True) for n in range(4)]
    told = [process.communicate() for process in started]
    for process, (_, errors) in zip(started, told):
        if process.returncode:
            complain("4 processes to open the new store at once", errors.strip()[-300:])
    acknowledged = {task for answers, _ in told for task in answers.split()}
    with <opening> as saver:
        found = saver.get_tuple(config("", 0))
        lost = acknowledged - {task for task, *_ in (found.pending_writes if found else ())}
    if lost:
        complain("every batch that was acknowledged", f"{len(lost)} of {len(acknowledged)} gone")


if len(sys.argv) > 1:
    work(sys.argv[1], int(sys.argv[2]))
else:
    for _ in range(3):
        with tempfile.TemporaryDirectory() as path:
            show(path)
"""
