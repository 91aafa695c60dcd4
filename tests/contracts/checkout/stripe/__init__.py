"""Payments by Stripe: paid, told, paid back and killed, before a localstripe that loses requests and answers."""
