"""What the server promises on every database."""
