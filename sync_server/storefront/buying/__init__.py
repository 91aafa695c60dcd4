"""From choosing seats to the paid order."""
