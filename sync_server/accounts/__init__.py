"""Organisations, staff, their sessions and tokens, and supervisors at the doors."""
