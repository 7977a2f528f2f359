"""Trust: our kernel against the analysis of a saturated cell, and against ns-2 on the same ground."""
