"""Makes the callers of a scene: their processes, threads and tasks, their calls and answers."""
