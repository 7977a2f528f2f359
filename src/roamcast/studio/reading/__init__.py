"""Reading of results: answers, causes of losses, replays and tables; called in a worker process."""
