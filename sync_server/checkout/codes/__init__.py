"""Codes that buyers type in: discounts and presales, made in batches by organisers."""
