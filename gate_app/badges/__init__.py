"""Badges at the gate: who gets one, what stands on it, and the queue to the printer."""
