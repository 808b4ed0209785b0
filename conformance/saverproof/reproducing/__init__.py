"""Standalone scripts that show a flaw without the kit."""

from saverproof.reproducing.proving import reproducer

__all__ = ["reproducer"]
