"""``python -m saverproof.cli``: the command line where its script is not on the path."""

from saverproof.cli import main

main(prog_name="saverproof")
