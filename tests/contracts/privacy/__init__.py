"""What is stored about people, on both databases."""
