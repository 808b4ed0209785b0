"""Programs as data: steps with symbolic names, their JSON form, and how they read."""
