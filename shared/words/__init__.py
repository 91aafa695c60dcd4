"""How things are said to people: messages as data, numbers, times."""
