"""Orders, payments and refunds, on both databases."""
