"""Alerts and nightly checks, on a real server."""
