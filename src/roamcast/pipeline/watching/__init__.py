"""A campaign while it runs: its commits as a stream, measured by the code that measures it at its end."""
