"""Buyers: guests of a shop, identified by a cookie."""
