"""Holds of several seats or places at once."""
