"""DSDV (Perkins and Bhagwat 1994) by the rules and constants of ns-2."""
