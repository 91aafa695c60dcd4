"""Printers of badges, wristbands and slips."""
