"""From the frames of a camera to codes: the only place that knows image libraries."""
