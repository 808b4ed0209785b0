"""Standalone scripts that show a flaw without the kit."""

from saverproof.scripts.proving import death_reproducer, operation_reproducer, reproducer

__all__ = ["death_reproducer", "operation_reproducer", "reproducer"]
