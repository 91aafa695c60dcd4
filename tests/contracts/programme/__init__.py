"""What visitors find, on both databases."""
