"""What buyers do alone: their orders and tickets, memberships, passing tickets on, and cancelling."""
