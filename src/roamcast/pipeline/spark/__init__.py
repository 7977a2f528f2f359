"""Spark itself: where it runs, its session and settings, executors, and what is said when it fails."""
