"""The parts of an answer: goals, outlying seeds, seeds still needed, and curves over time and delay."""
