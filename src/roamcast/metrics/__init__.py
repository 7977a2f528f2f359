"""The metrics of a run, each declared once: name, unit, meaning, and how it follows from the facts."""
