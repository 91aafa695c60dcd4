"""What is read from a request before a domain sees it, and the errors that answer it."""
