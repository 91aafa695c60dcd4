"""Webhooks: facts posted to the addresses that an organisation registers, signed, with a log of every attempt."""
