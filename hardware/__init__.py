"""Drivers for gate devices: readers, lamps, sound and barriers; they know nothing about tickets."""
