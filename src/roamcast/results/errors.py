"""Errors about the folder of a campaign."""

from __future__ import annotations

from roamcast.errors import UserError


class CampaignFolderError(UserError):
    """A campaign folder that cannot be used."""
