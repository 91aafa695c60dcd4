"""Orders: from a guest's holds to paid tickets, the money that moved for them, and refunds."""
