"""Drivers for what stands at a gate: readers, lamps, sound and barriers; they know no tickets."""
