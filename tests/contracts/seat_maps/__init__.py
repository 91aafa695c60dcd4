"""Houses as people see them."""
