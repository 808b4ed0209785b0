"""SQLite seen and failed from inside, and its connections proxied, without the program's help."""
