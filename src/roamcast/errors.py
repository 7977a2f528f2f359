"""The errors a person can cause; each room derives its own from `UserError`."""


class UserError(Exception):
    """What was wrong, where, and what was expected; shown without a traceback, exit code 2."""
