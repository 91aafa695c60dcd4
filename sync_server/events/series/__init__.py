"""Copies of events, and series of them."""
