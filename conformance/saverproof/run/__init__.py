"""What a user starts: the plugin of pytest, the commands, and what they read and write."""
