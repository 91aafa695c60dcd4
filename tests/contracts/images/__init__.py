"""Pictures over HTTP, on both databases."""
