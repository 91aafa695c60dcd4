"""Server and gates together, in stories named after the trouble they tell of."""
