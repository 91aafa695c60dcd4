"""What layouts promise over HTTP, on both databases."""
