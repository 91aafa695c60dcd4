"""Ticket types: what is offered, when, at which price, and how many are left."""
