"""The command line where its script is not on the path: ``python -m saverproof.cli``."""

from saverproof.cli import main

main(prog_name="saverproof")
