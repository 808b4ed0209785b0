"""The command line ``saverproof``."""
