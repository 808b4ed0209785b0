"""Be the fake judge of a project, in a fork that has imported what it needs."""

from __future__ import annotations

import os
import runpy
import sys


def main(*served: int) -> None:
    """Run the judge in the first folder of the path as a new interpreter would."""
    folder = os.environ["PYTHONPATH"].partition(os.pathsep)[0]
    sys.argv[1:] = map(str, served)
    runpy.run_path(os.path.join(folder, "fake_judge.py"), run_name="__main__")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
