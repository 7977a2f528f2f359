"""What is wrong with a campaign's folder."""

from __future__ import annotations

from roamcast.errors import UserError


class CampaignFolderError(UserError):
    """A campaign folder that cannot be used."""
