"""Ticket types, tickets, and the keys that sign them."""
