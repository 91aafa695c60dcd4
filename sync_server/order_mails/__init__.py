"""Mails to buyers: of their orders, and of what becomes of the event."""
