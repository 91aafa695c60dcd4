"""Seat maps: what the server sends of them, and how browsers work with them."""
