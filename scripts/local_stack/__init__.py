"""Runs a server and a gate with demo data on one machine, to try them out and to check that they work."""
