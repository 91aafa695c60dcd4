"""What else the server does: pages, lists, facts, and bad days."""
