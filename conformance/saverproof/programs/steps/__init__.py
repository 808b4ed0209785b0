"""Steps of programs as data: their names are symbolic, and they can be stored and described."""
