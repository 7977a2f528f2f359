"""Layout of text in drawings: legends in columns that fit, long titles in two lines, separate ticks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_APART = 3.0
"Minimum distance between the labels of two ticks [points]."


def add_legend(axes: Axes, title: str = "") -> None:
    """Add a legend below the plot, in as many columns as fit the panel."""
    handles, labels = axes.get_legend_handles_labels()
    panel: Any = axes.figure
    panel.get_figure(root=True).draw_without_rendering()  # only then the title of the axis has its place
    title_ends = panel.transSubfigure.inverted().transform(axes.xaxis.label.get_window_extent().p0)[1]
    below = min(0.2, title_ends - 0.01)
    for columns in range(min(len(handles), 2 if len(handles) == 4 else 3), 0, -1):
        legend = panel.legend(
            handles,
            labels,
            title=title or None,
            loc="upper center",
            bbox_to_anchor=(0.5, below),
            ncols=columns,
            columnspacing=1,
            handletextpad=0.5,
            borderaxespad=0,
            title_fontsize="medium",
        )
        if columns == 1 or legend.get_window_extent().width <= panel.bbox.width:
            return
        legend.remove()


def fold_label(axes: Axes) -> None:
    """Break the title of the horizontal axis into two lines if the panel is too narrow for one."""
    label, panel = axes.xaxis.label, axes.figure
    words = label.get_text().split()
    if len(words) < 2 or label.get_window_extent().width <= panel.bbox.width:
        return
    lines = [(" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words))]
    label.set_text("\n".join(min(lines, key=lambda two: max(map(len, two)))))


def fold_y_label(axes: Axes) -> None:
    """Break the title of the vertical axis into two lines if the plot is too low for one."""
    label = axes.yaxis.label
    words = label.get_text().split()
    if len(words) < 2 or label.get_window_extent().height <= axes.get_window_extent().height * 1.1:
        return
    lines = [(" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words))]
    label.set_text("\n".join(min(lines, key=lambda two: max(map(len, two)))))


def thin_ticks(axes: Axes) -> None:
    """Remove labels of ticks that would overlap with another one; the last one stays."""
    axis = axes.xaxis
    labels = [label for label in axis.get_ticklabels() if label.get_text() and label.get_visible()]
    apart = _APART * axes.figure.dpi / 72
    boxes = {id(label): label.get_window_extent() for label in labels}
    labels.sort(key=lambda label: boxes[id(label)].x0)
    kept = labels[-1:]
    for label in labels[:-1]:
        before = kept[-2:-1]
        free = all(boxes[id(label)].x0 - boxes[id(other)].x1 >= apart for other in before)
        if free and boxes[id(labels[-1])].x0 - boxes[id(label)].x1 >= apart:
            kept.insert(-1, label)
        else:
            label.set_visible(False)
