"""What guests are promised, on both databases."""
