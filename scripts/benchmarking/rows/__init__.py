"""What measured servers are filled with."""
