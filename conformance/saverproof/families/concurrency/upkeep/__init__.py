"""Plays histories in which someone prunes, copies or deletes threads while runs go on."""
