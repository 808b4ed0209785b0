"""The rare kinds of step, one module for each or for near twins.

A module has all that there is to say of its scene: what it is as data, how it is made, told, played
on a saver, and written into a script. To import this package makes all of them known.
"""

from saverproof.judging.scenes.abandoned_list import AbandonList
from saverproof.judging.scenes.bulk import Bulk
from saverproof.judging.scenes.clones import Clone, DropClone
from saverproof.judging.scenes.close_again import CloseAgain
from saverproof.judging.scenes.elsewhere import Elsewhere
from saverproof.judging.scenes.event_loop import CallOnLoop
from saverproof.judging.scenes.files import CheckFiles
from saverproof.judging.scenes.first_operation import FirstOperation
from saverproof.judging.scenes.refused_value import RefuseValue
from saverproof.judging.scenes.scene import Scene

__all__ = [
    "AbandonList",
    "Bulk",
    "CallOnLoop",
    "CheckFiles",
    "Clone",
    "CloseAgain",
    "DropClone",
    "Elsewhere",
    "FirstOperation",
    "RefuseValue",
    "Scene",
]
