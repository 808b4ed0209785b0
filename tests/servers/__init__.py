"""Savers on real servers, right and wrong, and what the kit says of them."""
