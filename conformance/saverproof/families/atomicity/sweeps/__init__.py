"""Makes an operation fail at each of its places, and judges what is left."""
