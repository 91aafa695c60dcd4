"""Parties that wait for places of a sold-out event, and the offers of places that come back."""
