"""What every process of a trial runs as it starts."""
