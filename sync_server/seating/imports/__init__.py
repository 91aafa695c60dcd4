"""Imports of large layouts: the file waits its turn, is read in a process of its own, and is stored piece by piece."""
