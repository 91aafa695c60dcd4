"""What a gate does with a code: reading, deciding, and starting."""
