"""The router interface, and one package for each protocol family."""
