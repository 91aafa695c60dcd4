"""Organisations, their staff, sessions and API tokens, and the supervisors at their gates."""
