"""Programs: what makes steps that are legal where they are made, and what shortens them."""
