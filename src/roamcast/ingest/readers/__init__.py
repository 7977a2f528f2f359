"""One file a format: a piece of a file in, rows and bad lines out."""
