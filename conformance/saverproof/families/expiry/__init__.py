"""Judges a saver that forgets what nobody uses, by making that time pass."""
