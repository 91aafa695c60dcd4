"""Checkout sessions: how many may be in the checkout of an event at once, and who is."""
