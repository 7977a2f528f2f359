"""How much may be asked for at once; a slip of a zero is told before it fills the memory."""

MOST_SEEDS = 10_000
"At one point of a campaign."

LARGEST_SEED = 2**63 - 1
"The largest that a table can hold."
