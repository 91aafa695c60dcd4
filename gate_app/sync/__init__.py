"""Synchronisation with the server: rows, movements and journals."""
