"""Journals of gates as the server stores them: entries, movements, reconciliation, conflicts."""
