"""Figures of events over all that sells and admits: how many came how far."""
