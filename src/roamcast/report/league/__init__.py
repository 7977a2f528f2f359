"""The league: protocols ranked in each world and over all worlds, and where each of them breaks."""
