"""Very many events and filters on Spark: who matches, and who is alike."""
