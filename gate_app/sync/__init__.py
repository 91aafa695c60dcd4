"""How a gate and its server exchange rows, movements and journals."""
