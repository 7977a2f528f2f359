"""The claims of a campaign file: a metric, its points, and the condition that must hold."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, model_validator

from roamcast.campaign.section import CampaignSection, MetricName, Settings


class MetricSelector(CampaignSection):
    """The values of a metric that a claim uses."""

    protocol: str
    metric: MetricName | None = None
    "The metric, if it differs from the claim's."
    where: Settings = Field(default_factory=dict)
    "Points of the sweep that agree with these; all if absent."
    less: Settings | None = None
    "Subtract the value at these points: the result is the rise from there to `where`."


class _Claim(CampaignSection):
    says: str
    "The claim in our own words."
    section: str = ""
    "Section of the paper that makes the claim."
    figure: str = ""
    "The paper's figure."
    paper: str = ""
    "The number in the paper, as printed."
    source: Literal["paper", "implied", "ours"] = "paper"
    "Whether the paper states the claim, only implies it, or the campaign asks a question of its own."
    sweep: str
    metric: MetricName
    where: Settings = Field(default_factory=dict)
    "Points of the sweep that agree with these; all if absent."
    points: Literal["each", "mean"] = "each"
    "The claim must hold at each point, or for the mean over the points."


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
    """A metric increases from protocol to protocol in the given order; compared on common seeds."""

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
    "Maximum change of a level metric from end to end of the line, relative to its mean."


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
    """The difference of two numbers lies in a band."""

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
    """The axis value at which one protocol's metric crosses another's lies in a band.

    It is the zero of a least-squares line that is fitted to the differences over the points, per seed.
    """

    kind: Literal["crossing"]
    protocol: str
    passes: str
    "The other protocol, whose metric is crossed."
    along: str
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _check_consistency(self) -> CrossingClaim:
        _check_band(self.low, self.high)
        return self


class UnjudgedStatement(CampaignSection):
    """A statement of the paper about its results that no claim judges."""

    says: str
    "The statement in our own words."
    section: str = ""
    "Section of the paper that makes the statement."
    because: Annotated[str, Field(min_length=1)]
    "The reason why no claim judges it."


def _check_band(low: float | None, high: float | None) -> None:
    if low is None and high is None:
        raise ValueError("a band needs low, high or both")
    if low is not None and high is not None and low > high:
        raise ValueError(f"low ({low}) is above high ({high})")


Claim: TypeAlias = Annotated[
    BandClaim | OrderingClaim | TrendClaim | RatioClaim | DifferenceClaim | CrossingClaim,
    Field(discriminator="kind"),
]
