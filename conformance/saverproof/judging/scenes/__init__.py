"""Scenes: rare kinds of step, one module for each, or for a pair of similar ones.

Each module has everything about its scene: its data, how it is made, described, played on a saver,
and written into a script. Importing this package registers all scenes.
"""

from saverproof.judging.scenes.abandoned_list import AbandonList
from saverproof.judging.scenes.bulk import Bulk
from saverproof.judging.scenes.clones import Clone, DropClone
from saverproof.judging.scenes.close_again import CloseAgain
from saverproof.judging.scenes.copy_by_putting import CopyByPutting
from saverproof.judging.scenes.elsewhere import Elsewhere
from saverproof.judging.scenes.event_loop import CallOnLoop
from saverproof.judging.scenes.files import CheckFiles
from saverproof.judging.scenes.first_operation import FirstOperation
from saverproof.judging.scenes.parent_loop import ParentLoop
from saverproof.judging.scenes.refused_value import RefuseValue
from saverproof.judging.scenes.scene import Scene
from saverproof.judging.scenes.second_saver import TakeTurns
from saverproof.judging.scenes.unread import LeaveUnread

__all__ = [
    "AbandonList",
    "Bulk",
    "CallOnLoop",
    "CheckFiles",
    "Clone",
    "CloseAgain",
    "CopyByPutting",
    "DropClone",
    "Elsewhere",
    "FirstOperation",
    "LeaveUnread",
    "ParentLoop",
    "RefuseValue",
    "Scene",
    "TakeTurns",
]
