"""Alerts, metrics and checks, on a real server."""
