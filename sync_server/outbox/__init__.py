"""Facts, written with the change they tell of and delivered afterwards."""
