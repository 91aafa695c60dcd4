"""The virtual queue: who may buy next, in an order that can be checked, and the passes of those whose turn it is."""
