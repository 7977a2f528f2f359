"""The child process that does the work of requests."""
