"""What another distribution may add: a family, its contracts, a driver, and two targets."""
