"""What is held becomes sold, and what is sold becomes free again."""
