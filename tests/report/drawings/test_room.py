"""Words on a drawing find room: no legend is cut off, no ticks run into each other."""

from itertools import pairwise

import pytest

from roamcast.metrics.declarations import METRICS
from roamcast.report.drawings.axes import fit_values
from roamcast.report.drawings.figures import COLUMN, canvas
from roamcast.report.drawings.layout import add_legend, fold_label, thin_ticks


@pytest.fixture
def axes():
    _, parts = canvas(1, 1, COLUMN, frame=(0.16, 0.345, 0.81, 0.565))
    return parts[0][0]


@pytest.mark.parametrize(("name", "columns"), [("cbr", 3), ("greatest speed of the walkers", 1)])
def test_a_legend_has_as_many_columns_as_fit(axes, name, columns):
    for i in range(3):
        axes.plot([0, 1], [i, i], label=f"{name} {i}")
    add_legend(axes)
    (legend,) = axes.figure.legends
    assert legend._ncols == columns
    assert legend.get_window_extent().width <= axes.figure.bbox.width


def test_a_long_title_of_an_axis_stands_in_two_lines_and_the_legend_below_it(axes):
    axes.plot([0, 1], [0, 1], label="cbr")
    axes.set_xlabel("side of the field of two hundred nodes, in metres from one end to the other")
    fold_label(axes)
    add_legend(axes)
    assert axes.get_xlabel().count("\n") == 1
    label, (legend,) = axes.xaxis.label, axes.figure.legends
    axes.figure.get_figure(root=True).draw_without_rendering()
    assert label.get_window_extent().width <= axes.figure.bbox.width
    assert legend.get_window_extent().y1 <= label.get_window_extent().y0


def test_a_short_title_stays_as_it_is(axes):
    axes.set_xlabel("speed (m/s)")
    fold_label(axes)
    assert axes.get_xlabel() == "speed (m/s)"


def test_labels_of_ticks_do_not_touch_and_the_last_one_stays(axes):
    places = [0, 60, 120, 180, 215, 235, 245, 250]
    axes.plot(places, places)
    axes.set_xticks(places, [f"{place} m" for place in places])
    thin_ticks(axes)
    shown = [label for label in axes.get_xticklabels() if label.get_visible()]
    boxes = [label.get_window_extent() for label in shown]
    assert [label.get_text() for label in shown] == ["0 m", "60 m", "120 m", "180 m", "250 m"]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


@pytest.mark.parametrize(("highest", "result"), [(9_000, "2000"), (60_000, "20k"), (18_670_000, "5M")])
def test_large_numbers_are_short_and_need_no_power_of_ten_beside_the_title(axes, highest, result):
    fit_values(axes.yaxis, METRICS["bytes"], [1.0, highest])
    axes.figure.get_figure(root=True).draw_without_rendering()
    assert result in [label.get_text() for label in axes.yaxis.get_ticklabels()]
    assert axes.yaxis.get_offset_text().get_text() == ""
