"""What the house promises, told as stories."""
