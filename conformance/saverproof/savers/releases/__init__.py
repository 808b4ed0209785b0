"""Older releases of a saver's distribution: named, found, and installed beside the present one."""
