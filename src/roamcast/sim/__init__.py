"""The world where time is ours."""
