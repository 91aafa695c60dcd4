"""Listens to every statement of the server: each names the organisation whose rows it means."""
