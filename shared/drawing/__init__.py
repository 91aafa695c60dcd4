"""Text, shapes and codes on a page, for tickets, badges and pictures."""
