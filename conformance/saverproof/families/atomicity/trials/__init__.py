"""Makes one trial: an operation under a fault, with all that is seen before and after it."""
