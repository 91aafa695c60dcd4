"""Venues and their gates."""
