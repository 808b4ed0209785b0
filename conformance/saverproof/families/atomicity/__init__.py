"""Judges what a saver leaves behind when a statement, an I/O call, an await or a value fails."""
