"""Facts to metrics, metrics to means and verdicts."""
