"""The studio: a local web application over the same functions as the command line."""
