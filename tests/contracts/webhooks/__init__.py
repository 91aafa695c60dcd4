"""Webhooks, with a real receiver, on both databases."""
