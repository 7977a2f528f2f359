"""The advisor: predicts what each protocol achieves in a scenario, without simulating it."""
