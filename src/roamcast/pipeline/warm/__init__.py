"""The warm session: a Spark Connect server on this machine that commands of one user share."""
