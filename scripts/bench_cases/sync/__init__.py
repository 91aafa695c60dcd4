"""What gates and the server exchange."""
