"""Figures of events."""
