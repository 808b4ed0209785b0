"""The reference saver: a plain saver on dictionaries that keeps every functional contract.

It is cut into small hooks, which wrong savers override.
"""
