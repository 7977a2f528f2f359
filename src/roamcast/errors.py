"""The base class of the errors that a user can cause; each package derives its own."""


class UserError(Exception):
    """A user's mistake: what was found, where, and what was expected.

    The command prints it and exits with 2.
    """
