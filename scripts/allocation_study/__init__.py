"""Simulates sold-out venues, to compare how well seats are allocated with the optimum."""
