"""The subscriber: subscriptions, and ordered delivery without duplicates."""
