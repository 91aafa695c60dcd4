"""Facts, caches and buses, held to one contract whatever carries them."""
