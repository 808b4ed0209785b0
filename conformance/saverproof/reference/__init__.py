"""A plain saver on dictionaries that keeps every functional contract, cut into small hooks."""
