"""Journals of gates as the server keeps them: entries, movements, reconciliation, conflicts."""
