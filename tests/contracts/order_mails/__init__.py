"""Mails to buyers, read as they read them, on both databases."""
