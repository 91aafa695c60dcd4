"""What is promised about events that are put away, on both databases."""
