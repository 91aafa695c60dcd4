"""Events that are cancelled: refunds, another date, and what the box office has to do."""
