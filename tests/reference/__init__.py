"""Plain savers that keep every promise: the ground from which the wrong savers depart."""
