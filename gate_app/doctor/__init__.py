"""Finds what is wrong with a gate, and says what to do about it."""
