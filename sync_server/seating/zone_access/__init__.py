"""Who may sit in a zone: guest lists, memberships, and what follows from them."""
