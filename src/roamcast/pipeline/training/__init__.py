"""The advisor's data and models on Spark: runs of random worlds, features, training and evaluation."""
