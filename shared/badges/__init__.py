"""Badges and wristbands: layouts as data, what stands on them, and how they are drawn."""
