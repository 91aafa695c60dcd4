"""Servers that are measured, and those beside them."""
