"""Programs as data: steps with symbolic names, their JSON form, generators, legality, shrinking."""
