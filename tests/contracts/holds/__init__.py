"""What holds promise, on both databases."""
