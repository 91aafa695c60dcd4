"""Everything that must hold of the code before it is run."""
