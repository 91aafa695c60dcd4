"""Puts away what grows: events that are over become sealed files, and everything else goes when its time has come."""
