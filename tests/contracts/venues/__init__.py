"""Venues over HTTP, on both databases."""
