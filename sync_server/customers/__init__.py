"""Those who buy: guests, known by the cookie of their browser."""
