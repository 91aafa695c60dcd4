"""The days of an event: chosen, counted and changed."""
