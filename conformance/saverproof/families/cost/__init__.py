"""The cost of operations as a store grows: counts at several sizes, and the law that fits them."""
