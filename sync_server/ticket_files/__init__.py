"""Tickets as their guests see them: pages of a PDF, a page for phones, and an entry for the calendar."""
