"""What is asked: campaign files, what is planned, claims as arithmetic, readings. Pure; needs no Spark."""
