"""Queues over HTTP, on both databases."""
