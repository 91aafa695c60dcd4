"""Ways to pay, payments and refunds."""
