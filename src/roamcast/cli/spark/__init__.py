"""Commands for Spark sessions, clusters and the tables of campaigns."""
