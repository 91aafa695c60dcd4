"""What the command line does, one module per thing an operator does."""
