"""Measured gates, and what their cameras see."""
