"""The Spark session: where it runs, its settings and executors, and its error messages."""
