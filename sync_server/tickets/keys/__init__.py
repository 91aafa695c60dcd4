"""Signing keys, and the ticket codes they sign."""
