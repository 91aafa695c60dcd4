"""What organisers' pages and tickets look like: colours held to contrast, made covers, dates and amounts."""
