"""Gate machines: how they are let in, what they may do, where they stand, and how they are shut out."""
