"""SQLite watched and failed from inside, without the program's help."""
