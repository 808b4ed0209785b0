"""The things that a user starts: the plugin of pytest and the commands, with what they read and
write.
"""
