"""A seating layout as a value, what must hold of it, and what an event changes about it."""
