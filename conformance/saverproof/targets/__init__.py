"""Targets: how an author says what is to be judged, and how the kit finds it, opens it and gets to
know it.
"""
