"""The comparisons, a file a family: each has `TOPICS`, the sections of the page that it measures."""
