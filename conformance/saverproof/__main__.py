"""The command line where its script is not on the path: ``python -m saverproof``."""

from saverproof.run.cli import main

main(prog_name="saverproof")
