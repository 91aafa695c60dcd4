"""Issuing tickets: requests, zone access, seats, and the tickets made of them."""
