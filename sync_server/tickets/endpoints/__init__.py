"""Endpoints beside those of tickets themselves: keys, codes, memberships, and how well an event sells."""
