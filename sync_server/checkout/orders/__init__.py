"""Orders from a guest's holds to tickets, and their ends."""
