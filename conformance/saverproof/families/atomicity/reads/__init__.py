"""Makes reads fail, and judges what they answer."""
