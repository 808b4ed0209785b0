"""Judges what a saver leaves behind when a statement, an I/O, an await or a value fails."""
