"""Simulated guests at a gate of an invented event, through the same pipeline as real ones."""
