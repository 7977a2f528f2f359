"""The command: one file per verb; opens doors and decides nothing."""
