"""What the command line takes and answers: bounds of what may be asked for, and exit codes."""

MOST_SEEDS = 10_000
"At one point of a campaign; as in its file (`campaign.campaign`), whose module is too heavy for `--help`."

LARGEST_SEED = 2**63 - 1
"The largest that a table can hold."

DISAGREED = 1
"Exit code under --strict: a claim is not held (or undecided, or not judged), or a run failed."

FAILED = 3
"Exit code: runs failed, or a report has no result to show."
