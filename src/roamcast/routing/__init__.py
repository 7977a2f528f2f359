"""HOW it travels: the router contract, and a folder for each family of protocols."""
