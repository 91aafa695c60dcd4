"""Texts as data, and names as people type them."""
