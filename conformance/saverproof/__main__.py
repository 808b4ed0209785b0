"""Run the command line as ``python -m saverproof``, where its script is not on the path."""

from saverproof.run.cli import main

main(prog_name="saverproof")
