"""The commands of gatehouse-server, one module per task of an operator."""
