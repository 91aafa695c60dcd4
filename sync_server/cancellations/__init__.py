"""Events that are cancelled, and what their buyers get: their money back, another date, or neither."""
