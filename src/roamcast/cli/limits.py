"""How much may be asked for on the command line; a slip of a zero is told before it fills the memory."""

MOST_SEEDS = 10_000
"At one point of a campaign; as in its file (`pipeline.campaign`), whose module is too heavy for `--help`."

LARGEST_SEED = 2**63 - 1
"The largest that a table can hold."
