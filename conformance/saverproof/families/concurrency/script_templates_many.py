"""The texts of standalone scripts in which many use one store; ``scripts`` fills them in."""

from saverproof.families.concurrency.script_templates_one import CONFIG, META

TURNS = "nobody takes the same turns twice"
_SAYS = 'sys.exit(f"{__doc__}'

SHARED = f"""\
{CONFIG}


<def> work(saver, at, caller, wrong):
    for turn in range(20):  # every second task is one that all callers write
        task = f"00000000-0000-4000-8000-{{caller if turn % 2 else 9:04}}{{turn:08}}"
        try:
            <await>saver.<a>put_writes(at, [("x", n) for n in range(10)], task)
            for found in [<await>saver.<a>get_tuple(at), *<listed>]:
                parts = Counter(task for task, *_ in found.pending_writes)
                wrong += [parts] if set(parts.values()) - {{10}} else []
        except Exception as error:
            wrong.append(error)
        if wrong:
            return


<def> play(saver):
    wrong = []
    at = <await>saver.<a>put(CONFIG, empty_checkpoint(), {META}, {{}})
    <crowd>
    for one in wrong:
        {_SAYS}\\nexpected: no error, batches of 10 writes\\nobserved: {{one!r}}")
    tasks = {{task for task, *_ in <left><await>saver.<a>get_tuple(at)<right>.pending_writes}}
    if len(tasks) != 50:
        {_SAYS}\\nexpected: all 50 batches\\nobserved: {{len(tasks)}} of them")
"""

DELETED = f"""\
{CONFIG}


<def> delete(saver, known):
    for turn in range(30):
        at = <await>saver.<a>put(CONFIG, empty_checkpoint(), {META}, {{}})
        <await>saver.<a>put_writes(at, [("x", 1)], f"00000000-0000-4000-8000-{{turn:012}}")
        known.append(at["configurable"]["checkpoint_id"])
        <await>saver.<a>delete_thread("a")
        <turn>


<def> read(saver, known):
    for _ in range(150):
        before = list(known)  # the checkpoints that had writes before the read began
        found = <await>saver.<a>get_tuple(CONFIG)
        if found and found.checkpoint["id"] in before and not found.pending_writes:
            return "a checkpoint without the writes that it had"
        <turn>


<def> play(saver):
    known = []
    <readers>
    for wrong in filter(None, said):
        {_SAYS}\\nexpected: a thread as it was, or nothing\\nobserved: {{wrong!r}}")
"""

FOLLOWED = f"""\
{CONFIG}


<def> write(saver, at, known):
    for number in range(1, 21):
        <await>saver.<a>put(CONFIG, empty_checkpoint(), {{"source": "loop", "step": number}}, {{}})
        <await>saver.<a>put_writes(at, [("x", number)], f"00000000-0000-4000-8000-{{number:012}}")
        known.append(number)
        <turn>


<def> read(saver, at, known):
    for _ in range(20):
        newest = max(known)  # what was acknowledged, or seen, before the reads began
        latest = <left><await>saver.<a>get_tuple(CONFIG)<right>.metadata["step"]
        tasks = len(<left><await>saver.<a>get_tuple(at)<right>.pending_writes)
        if min(latest, tasks) < newest:
            return f"checkpoint {{newest}} and {{newest}} tasks", f"{{latest}} and {{tasks}}"
        known.append(min(latest, tasks))
        <turn>


<def> play(saver, reader):
    known = [0]
    at = <await>saver.<a>put(CONFIG, empty_checkpoint(), {{"source": "input", "step": 0}}, {{}})
    <await>read(reader, at, known)
    <both>
    said.append(<await>read(reader, at, known))
    for expected, observed in [one for one in said if isinstance(one, tuple)]:
        {_SAYS}\\nexpected: {{expected}}\\nobserved: {{observed}}")
"""

_POOL = """\
sys.setswitchinterval(1e-6)
with ThreadPoolExecutor() as pool:
    parts = {}
said = [part.exception() or part.result() for part in parts]"""
_GATHERED = """\
sys.setswitchinterval(1e-6)
said = await asyncio.gather({}, return_exceptions=True)"""
CROWD = """\
sys.setswitchinterval(1e-6)
with ThreadPoolExecutor() as pool:
    [pool.submit(work, saver, at, caller, wrong) for caller in range(4)]"""
ASYNC_CROWD = """\
sys.setswitchinterval(1e-6)
await asyncio.gather(*[work(saver, at, caller, wrong) for caller in range(4)])"""
READERS = _POOL.format("[pool.submit(part, saver, known) for part in (delete, read, read)]")
ASYNC_READERS = _GATHERED.format("*[part(saver, known) for part in (delete, read, read)]")
BOTH = _POOL.format("[pool.submit(write, saver, at, known), pool.submit(read, reader, at, known)]")
ASYNC_BOTH = _GATHERED.format("write(saver, at, known), read(reader, at, known)")

RUN = """

def run(function, *arguments):
    return asyncio.run(function(*arguments))
"""

PROCESSES = f"""\
{CONFIG}
CHECKPOINT = empty_checkpoint() | {{"id": "1f0c8a43-b1a7-6000-8000-02f1a6c4d8e0"}}


<def> work(path, caller):
    faulthandler.dump_traceback_later(30, exit=True)  # a process that hangs ends
    told = {{f"00000000-0000-4000-8000-{{caller:04}}{{turn:08}}": 2 for turn in range(30)}}
    <with> <opening> as saver:
        at = <await>saver.<a>put(CONFIG, CHECKPOINT, {META}, {{}})
        for task in told:
            try:
                <await>saver.<a>put_writes(at, [("x", 1), ("x", 2)], task)
            except Exception:  # that is advice: nothing of it may be there
                told[task] = 0
    return told


<def> look(path):
    <with> <opening> as saver:
        found = <await>saver.<a>get_tuple(CONFIG)
        return [task for task, *_ in (found.pending_writes if found else ())]
<running>

if __name__ == "__main__":
    for _ in range(5):  # {TURNS}
        with <folder>, ProcessPoolExecutor(4) as pool:
            <drop>
            parts = [pool.submit(<run>work, path, caller) for caller in range(4)]
            told = [part.result() for part in parts if not part.exception()]
            there = <look>
            for task, writes in [one for answers in told for one in answers.items()]:
                if there.count(task) != writes:
                    {_SAYS}\\nexpected: {{writes}} writes of task {{task}}\\n"
                             f"observed: {{there.count(task)}}")
"""

FIRST = f"""\
{CONFIG}


<def> work(path, moment):
    faulthandler.dump_traceback_later(30, exit=True)  # a process that hangs ends
    time.sleep(max(0, moment - time.time()))  # all begin at once
    <with> <opening> as saver:
        <await>saver.<a>put(CONFIG, empty_checkpoint(), {META}, {{}})
<running>

if __name__ == "__main__":
    for _ in range(12):  # {TURNS}
        with <folder>, ProcessPoolExecutor(4) as pool:
            <drop>
            moment = time.time() + 0.2
            parts = [pool.submit(<run>work, path, moment) for _ in range(4)]
            for error in filter(None, [part.exception() for part in parts]):
                {_SAYS}\\nexpected: 4 processes to open it\\nobserved: {{error!r}}")
"""

HELD = f"""\
{CONFIG}


<def> show():
    with <folder>:
        <drop>
        # Another process is about to set the file up, and done with it in a second.
        other = sqlite3.connect(path + "/<file>", isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        threading.Timer(1, other.execute, ["ROLLBACK"]).start()
        try:
            <with> <opening> as saver:
                <await>saver.<a>put(CONFIG, empty_checkpoint(), {META}, {{}})
        except Exception as error:
            {_SAYS}\\nexpected: a put that waits for its turn\\nobserved: {{error!r}}")


<show>
"""
