"""Attribution rules for steps that change a store: removing, copying, putting, writing."""

from __future__ import annotations

from saverproof.contracts.tables import channels, deletion, isolation, pending_writes, upsert
from saverproof.judging import facts
from saverproof.judging.attribution import conditions, write_conditions
from saverproof.judging.attribution.contract_of_fact import WHOLE_STEP, of_whole_step
from saverproof.judging.attribution.rule import Case, Rule, after
from saverproof.judging.facts import OF_WRITES
from saverproof.judging.scenes.scene import Scene
from saverproof.programs.model import records
from saverproof.programs.steps.definitions import CopyThread, Put, PutWrites

STEPS = (
    Rule(
        "one of two copies was changed, and the other changed with it",
        deletion.COPY_INDEPENDENT.id,
        when=conditions.on_the_other_side,
    ),
    Rule(
        "nothing may differ after such a step",
        lambda case: of_whole_step(case.step, case.kind),
        after=(*WHOLE_STEP, Scene),
    ),
)
COPIES = after(
    CopyThread,
    Rule(
        "what had been removed from the target is back",
        conditions.contract_of_return,
        when=lambda case: conditions.on_copy(case) and conditions.came_back(case),
    ),
    Rule("the copy differs", deletion.COPY_COMPLETE.id, when=conditions.on_copy),
    Rule("copying changed another thread", deletion.COPY_INDEPENDENT.id),
)
PUTS = (
    Rule(
        "the fact is of no checkpoint",
        conditions.expected,
        when=Case.is_nowhere,
        after=(Put, PutWrites),
    ),
    Rule(
        "it was removed, and a put brings it back",
        conditions.contract_of_return,
        when=conditions.came_back_at_a_put,
        after=Put,
    ),
    Rule(
        "it was removed, and a write brings it back",
        conditions.contract_of_return,
        {facts.EXTRA},
        conditions.came_back,
        after=PutWrites,
    ),
    Rule(
        "a write of another checkpoint is shown elsewhere",
        pending_writes.SCOPED.id,
        {facts.WRITE_FOREIGN},
        lambda case: case.elsewhere,
        after=(Put, PutWrites),
    ),
    Rule(
        "writing to one checkpoint changed the writes of another",
        pending_writes.SCOPED.id,
        OF_WRITES,
        lambda case: case.elsewhere,
        after=PutWrites,
    ),
    Rule(
        "another thread changed",
        isolation.THREADS.id,
        when=conditions.other_thread,
        after=(Put, PutWrites),
    ),
    Rule(
        "another namespace of the thread changed",
        isolation.NAMESPACES.id,
        when=lambda case: case.elsewhere and case.namespace_differs,
        after=(Put, PutWrites),
    ),
    Rule(
        "a put elsewhere in the namespace lost a write",
        pending_writes.COMPLETE.id,
        OF_WRITES,
        lambda case: case.elsewhere,
        after=Put,
    ),
    Rule(
        "a checkpoint is there that was removed, or never put",
        conditions.by_itself,
        {facts.EXTRA},
        lambda case: case.elsewhere,
        after=(Put, PutWrites),
    ),
    Rule(
        "another checkpoint of the namespace changed",
        channels.HISTORY_IMMUTABLE.id,
        when=lambda case: case.elsewhere,
        after=(Put, PutWrites),
    ),
    *after(
        Put,
        Rule(
            "a put shows writes that are not its checkpoint's",
            pending_writes.SCOPED.id,
            {facts.WRITE_EXTRA, facts.WRITE_FOREIGN},
        ),
        Rule(
            "putting again changed the writes",
            upsert.REPUT_KEEPS_WRITES.id,
            OF_WRITES,
            conditions.put_again,
        ),
        Rule(
            "it was put again",
            lambda case: conditions.contract_of_put_again(case.record),
            when=conditions.put_again,
        ),
        Rule(
            "the write is there by copying its thread",
            deletion.COPY_COMPLETE.id,
            when=lambda case: case.write is not None and records.COPIED in case.write.marks,
        ),
    ),
)
WRITES = after(
    PutWrites,
    Rule(
        "writes made a checkpoint that is not put yet",
        conditions.by_itself,
        {facts.EXTRA},
    ),
    Rule(
        "writes changed the checkpoint itself",
        channels.HISTORY_IMMUTABLE.id,
        when=lambda case: case.kind not in OF_WRITES,
    ),
    Rule(
        "a write of this task was added whose place was taken",
        upsert.REGULAR_WRITE_FIRST_WINS.id,
        {facts.WRITE_EXTRA},
        write_conditions.of_the_task,
    ),
    Rule(
        "a write of this batch was added whose place was taken; it looks like another checkpoint's",
        upsert.REGULAR_WRITE_FIRST_WINS.id,
        {facts.WRITE_FOREIGN},
        write_conditions.of_the_batch,
    ),
    Rule(
        "such a write has no place of its own that tells more",
        conditions.expected,
        {facts.WRITE_EXTRA, facts.WRITE_FOREIGN},
    ),
    Rule(
        "a special write was added, not replaced",
        conditions.contract_of_replacing,
        {facts.WRITE_TWICE},
        write_conditions.is_special,
    ),
    Rule(
        "a regular write was added again",
        upsert.REGULAR_WRITE_FIRST_WINS.id,
        {facts.WRITE_TWICE},
        write_conditions.is_known,
    ),
    Rule(
        "a value that was to be replaced, by this batch or one before",
        conditions.contract_of_replacing,
        when=write_conditions.is_stale,
    ),
    Rule(
        "no write has this value, so that it is a matter of storing it",
        conditions.expected,
        {facts.WRITE_VALUE},
        lambda case: write_conditions.is_known(case) and not write_conditions.was_written(case),
    ),
    Rule(
        "a special and a regular write met at one place",
        pending_writes.SPECIAL_INDEX.id,
        when=write_conditions.displaced,
    ),
    Rule(
        "a special write of this batch replaced another",
        conditions.contract_of_replacing,
        when=lambda case: (
            write_conditions.is_special(case) and write_conditions.replaced_by_batch(case)
        ),
    ),
    Rule(
        "a batch changed the writes of another task",
        pending_writes.COMPLETE.id,
        when=write_conditions.of_another_task,
    ),
    Rule("a special write of its own", conditions.expected, when=write_conditions.is_special),
    Rule(
        "the task had written before, and this batch changed that or was not added",
        upsert.REGULAR_WRITE_FIRST_WINS.id,
        when=write_conditions.was_added_to,
    ),
)
CHANGES = (*STEPS, *COPIES, *PUTS, *WRITES)
