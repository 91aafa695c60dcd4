"""Draws tickets: text is shaped by Pango, in both directions of writing, and pages are written by Cairo."""
