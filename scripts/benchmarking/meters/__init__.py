"""What is measured besides time: processor, memory, rows; and slower machines."""
