"""Tables of an event to take away, on both databases."""
