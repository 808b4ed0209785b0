"""Programs: how they are made of legal steps, rewritten, and shortened."""
