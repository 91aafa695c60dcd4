"""What a customer sees of their own: orders, tickets, sign-in."""
