"""Claims as a campaign file states them: a metric, where it is taken, and what must be true of it."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, model_validator

from roamcast.campaign.section import CampaignSection, MetricName, Settings


class MetricSelector(CampaignSection):
    """Which numbers a claim speaks of."""

    protocol: str
    metric: MetricName | None = None
    "If it is not the claim's metric."
    where: Settings = Field(default_factory=dict)
    "Points of the sweep that agree with these; all if absent."
    less: Settings | None = None
    "Take off the number at these points: the rise from there to `where`."


class _Claim(CampaignSection):
    says: str
    "The claim, in our own words."
    section: str = ""
    "Where the paper says it."
    figure: str = ""
    "The paper's figure."
    paper: str = ""
    "The paper's number, as it gives it."
    sweep: str
    metric: MetricName
    where: Settings = Field(default_factory=dict)
    "Points of the sweep that agree with these; all if absent."
    points: Literal["each", "mean"] = "each"
    "Whether it must hold at each point or for the mean over the points."


class BandClaim(_Claim):
    """A metric of one protocol lies between two numbers."""

    kind: Literal["band"]
    protocol: str
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _check_consistency(self) -> BandClaim:
        _check_band(self.low, self.high)
        return self


class OrderingClaim(_Claim):
    """A metric rises from protocol to protocol, in the order given; compared on common seeds."""

    kind: Literal["ordering"]
    protocols: Annotated[list[str], Field(min_length=2)]
    "Smallest first."


class TrendClaim(_Claim):
    """A metric of one protocol rises, falls or stays level along an axis (least-squares line)."""

    kind: Literal["trend"]
    protocol: str
    along: str
    direction: Literal["rising", "falling", "level"]
    tolerance: Annotated[float, Field(gt=0)] = 0.1
    "How far, of its mean, the line of a level metric may climb or sink from end to end."


class RatioClaim(_Claim):
    """One number divided by another lies in a band."""

    kind: Literal["ratio"]
    of: MetricSelector
    to: MetricSelector
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _check_consistency(self) -> RatioClaim:
        _check_band(self.low, self.high)
        return self


class DifferenceClaim(_Claim):
    """One number less another lies in a band."""

    kind: Literal["difference"]
    of: MetricSelector
    to: MetricSelector
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _check_consistency(self) -> DifferenceClaim:
        _check_band(self.low, self.high)
        return self


class CrossingClaim(_Claim):
    """Where along an axis one protocol's metric passes another's lies in a band.

    A least-squares line is fitted to their differences over the points, seed by seed: where is it zero?
    """

    kind: Literal["crossing"]
    protocol: str
    passes: str
    "The other protocol, whose metric it passes."
    along: str
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _check_consistency(self) -> CrossingClaim:
        _check_band(self.low, self.high)
        return self


def _check_band(low: float | None, high: float | None) -> None:
    if low is None and high is None:
        raise ValueError("a band needs low, high or both")
    if low is not None and high is not None and low > high:
        raise ValueError(f"low ({low}) is above high ({high})")


Claim: TypeAlias = Annotated[
    BandClaim | OrderingClaim | TrendClaim | RatioClaim | DifferenceClaim | CrossingClaim,
    Field(discriminator="kind"),
]
