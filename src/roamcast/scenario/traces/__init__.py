"""What was recorded elsewhere and comes into a scenario: movement, and a schedule of publications."""
