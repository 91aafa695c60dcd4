"""Zones and gates with more people inside than they hold."""
