"""Tickets as guests see them, on both databases."""
