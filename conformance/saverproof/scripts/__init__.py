"""Standalone scripts that show a flaw without the kit."""

from saverproof.scripts.reproducers import (
    death_reproducer,
    operation_reproducer,
    reproducer,
    signature_reproducer,
)

__all__ = ["death_reproducer", "operation_reproducer", "reproducer", "signature_reproducer"]
