"""The pages on which is sold: ticket types, codes, orders, the box office, the queue and the waiting list."""
