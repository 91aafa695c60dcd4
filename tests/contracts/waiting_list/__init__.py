"""Parties wait for places of a sold-out event, and are offered what comes back."""
