"""The packaged suite. ``from saverproof.suite import *`` in a test module puts it there.

The module then has one item for each family of contracts and API, for the targets that ``--saver``
names; without ``--saver``, a single item that is skipped.
"""

__all__ = ["saverproof_suite"]


class Suite:
    """The class that the plugin looks for in a test module."""


saverproof_suite = Suite()
