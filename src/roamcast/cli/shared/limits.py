"""Limits of command-line options, and exit codes."""

MOST_SEEDS = 10_000
"Maximum number of seeds at one point; as in `campaign.campaign`, which is too heavy to import for `--help`."

LARGEST_SEED = 2**63 - 1
"The largest seed that a table can hold."

DISAGREED = 1
"Exit code under --strict: a claim is not held (or undecided, or not judged), or a run failed."

FAILED = 3
"Exit code: runs failed, or a report has no result to show."
