"""Payments by Stripe: begun, followed, told by webhooks, and paid back."""
