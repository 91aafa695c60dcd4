"""Public listings, on both databases."""
