"""Seat holds, and the inventory of what is held and sold at an event."""
