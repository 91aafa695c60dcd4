"""Concerts: what they are, when, and what may be done with them."""
