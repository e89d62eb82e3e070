from __future__ import annotations

import io

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex, to_rgb
from matplotlib.patches import Rectangle

from seqcourse import CourseError, viz
from seqcourse.viz.roles import OTHERS

SOURCE = ["we", "are", "eating", "bread"]
TARGET = ["estamos", "comiendo", "pan"]
WEIGHTS = np.array([[0.5, 0.5, 0, 0], [0, 0.1, 0.9, 0], [0, 0, 0, 1.0]])


def pixels(ax) -> np.ndarray:
    """The drawn figure as (height, width, 3) numbers from 0 to 255."""
    raw = io.BytesIO()
    ax.figure.savefig(raw, format="rgba", dpi=80)
    width, height = ax.figure.get_size_inches() * 80
    return np.frombuffer(raw.getvalue(), np.uint8).reshape(int(height), int(width), 4)[..., :3]


def names(axis) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


def luminance(colour_map) -> np.ndarray:
    return colour_map(np.linspace(0, 1, 101))[:, :3] @ np.array([0.2126, 0.7152, 0.0722])


def test_alignment_has_target_words_down_and_source_words_across_on_top():
    ax = viz.alignment(WEIGHTS, SOURCE, TARGET, title="Attention")
    assert names(ax.xaxis) == SOURCE
    assert names(ax.yaxis) == TARGET
    assert ax.yaxis_inverted()  # the first target word is the top row
    assert ax.xaxis.get_label_position() == "top"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("source", "target")
    assert ax.get_title(loc="left") + ax.get_title() == "Attention"


def test_alignment_draws_the_weights_themselves_on_a_scale_from_0_to_1():
    (image,) = viz.alignment(WEIGHTS / 2, SOURCE, TARGET).images
    assert np.array_equal(image.get_array(), WEIGHTS / 2)
    assert image.get_clim() == (0.0, 1.0)
    assert to_hex(image.cmap(image.norm(0.0))) == "#ffffff"


def test_alignment_puts_the_dark_square_where_the_weight_is():
    ax = viz.alignment(WEIGHTS, SOURCE, TARGET)
    picture = pixels(ax)
    height = picture.shape[0]

    def colour(source: int, target: int) -> np.ndarray:
        x, y = ax.transData.transform((source, target)) * 80 / ax.figure.dpi
        return picture[height - 1 - int(y), int(x)].astype(int)

    assert colour(3, 2).sum() < 200  # weight 1: navy
    assert colour(0, 2).sum() > 740  # weight 0: white
    assert colour(0, 2).sum() > colour(0, 0).sum() > colour(3, 2).sum()


def test_alignment_takes_tensors_that_need_gradients():
    weights = torch.tensor(WEIGHTS, requires_grad=True)
    (image,) = viz.alignment(weights, SOURCE, TARGET).images
    assert np.array_equal(image.get_array(), WEIGHTS)
    (image,) = viz.alignment(torch.ones(1, 1, dtype=torch.bfloat16), ["a"], ["b"]).images
    assert image.get_array()[0, 0] == 1


def test_alignment_outlines_the_links_as_source_then_target():
    ax = viz.alignment(WEIGHTS, SOURCE, TARGET, links=[(3, 2), (0, 1)])
    boxes = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    middles = {
        (round(box.get_x() + box.get_width() / 2), round(box.get_y() + box.get_height() / 2))
        for box in boxes
    }
    assert middles == {(3, 2), (0, 1)}
    with pytest.raises(CourseError, match=r"\(2, 3\) points outside"):
        viz.alignment(WEIGHTS, SOURCE, TARGET, links=[(2, 3)])


def test_alignment_says_which_words_do_not_fit():
    with pytest.raises(CourseError, match=r"4 columns for 3 source tokens.*<eos>") as caught:
        viz.alignment(WEIGHTS, SOURCE[:3], TARGET)
    assert "target tokens. " not in str(caught.value).split(":")[1]
    with pytest.raises(CourseError, match="3 rows for 5 target tokens"):
        viz.alignment(WEIGHTS, SOURCE, TARGET + ["x", "y"])
    with pytest.raises(CourseError, match="transposed"):
        viz.alignment(WEIGHTS.T, SOURCE, TARGET)
    with pytest.raises(CourseError, match="2 dimensions.*one item"):
        viz.alignment(WEIGHTS[None], SOURCE, TARGET)
    with pytest.raises(CourseError, match="Split it first"):
        viz.alignment(WEIGHTS, "we are eating bread", TARGET)
    with pytest.raises(CourseError, match="rectangular"):
        viz.alignment([[1, 2], [3]], SOURCE, TARGET)


def test_heatmap_prints_numbers_in_ink_that_can_be_read():
    ax = viz.heatmap([[0.0, 1.0]], ["r"], ["a", "b"], xlabel="x", ylabel="y", label="weight")
    texts = {text.get_text(): to_hex(text.get_color()) for text in ax.texts}
    assert texts == {"0.00": viz.COLOURS["ink"].lower(), "1.00": "#ffffff"}
    bar = ax.figure.axes[1]
    assert bar.get_ylabel() == "weight"


def test_heatmap_leaves_numbers_out_of_a_large_matrix_and_numbers_its_axes():
    ax = viz.heatmap(np.eye(20), None, None, xlabel="key", ylabel="query", label="weight")
    assert not ax.texts
    assert len(ax.get_xticks()) <= 12
    assert viz.heatmap(np.eye(20), None, None, xlabel="k", ylabel="q", label="w", values=True).texts


def test_diverging_heatmap_is_white_at_zero_whatever_the_range():
    ax = viz.heatmap([[-1, 4.0]], ["r"], ["a", "b"], xlabel="x", ylabel="y", label="e", diverging=True)
    (image,) = ax.images
    assert image.get_clim() == (-4, 4)
    assert min(image.cmap(image.norm(0.0))[:3]) > 0.97


def test_heatmap_names_the_side_that_does_not_fit():
    with pytest.raises(CourseError, match="2 columns .*columns names 3"):
        viz.heatmap(np.eye(2), ["a", "b"], ["a", "b", "c"], xlabel="x", ylabel="y", label="w")
    with pytest.raises(CourseError, match="2 rows .*rows names 1"):
        viz.heatmap(np.eye(2), ["a"], ["a", "b"], xlabel="x", ylabel="y", label="w")
    with pytest.raises(CourseError, match="label should say what is measured"):
        viz.heatmap(np.eye(2), None, None, xlabel="x", ylabel="y", label=" ")


def test_curves_draw_every_form_of_line():
    ax = viz.curves(
        {"plain": [1, 2, 3], "own x": ([5, 6], [7, 8]), "band": ([1, 2], [3, 4], [0.5, 1])},
        xlabel="step",
        ylabel="loss (nats)",
        logy=True,
    )
    lines = {line.get_label(): line.get_xydata().tolist() for line in ax.lines}
    assert lines["plain"] == [[1, 1], [2, 2], [3, 3]]
    assert lines["own x"] == [[5, 7], [6, 8]]
    (band,) = ax.collections
    box = band.get_paths()[0].get_extents()
    assert (box.y0, box.y1) == (2.5, 5)
    assert ax.get_yscale() == "log"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["plain", "own x", "band"]


def test_curves_differ_in_more_than_colour_and_go_on_counting_on_the_same_axes():
    ax = viz.curves({"a": [1, 2], "b": [2, 3]}, xlabel="x", ylabel="y")
    viz.curves({"c": [3, 4]}, xlabel="x", ylabel="y", ax=ax)
    looks = [(line.get_color(), line.get_linestyle(), line.get_marker()) for line in ax.lines]
    for part in zip(*looks, strict=True):
        assert len(set(part)) == 3


def test_curves_share_x_and_refuse_lengths_that_differ():
    ax = viz.curves({"a": [1, 2]}, x=[10, 20], xlabel="x", ylabel="y")
    assert ax.lines[0].get_xdata().tolist() == [10, 20]
    assert ax.get_legend() is None  # one line needs none
    with pytest.raises(CourseError, match="'a' has 3 y values but 2 x values"):
        viz.curves({"a": [1, 2, 3]}, x=[10, 20], xlabel="x", ylabel="y")
    with pytest.raises(CourseError, match="2 y values but 1 numbers in its spread"):
        viz.curves({"a": ([1, 2], [1, 2], [1])}, xlabel="x", ylabel="y")
    with pytest.raises(CourseError, match="at least one line"):
        viz.curves({}, xlabel="x", ylabel="y")
    with pytest.raises(CourseError, match="ylabel"):
        viz.curves({"a": [1]}, xlabel="x", ylabel="")


def test_bars_have_their_numbers_above():
    ax = viz.bars({"without": 31.24, "with": 44.0}, ylabel="BLEU", digits=1)
    assert [bar.get_height() for bar in ax.patches] == [31.24, 44.0]
    assert [text.get_text() for text in ax.texts] == ["31.2", "44.0"]
    assert names(ax.xaxis) == ["without", "with"]
    assert ax.get_ylabel() == "BLEU"


def test_grouped_bars_stand_side_by_side_and_carry_errors():
    groups = {"rnn": {"short": 1.0, "long": 2.0}, "lstm": {"short": 3.0, "long": 4.0}}
    errors = {"rnn": {"short": 0.1, "long": 0.1}, "lstm": {"short": 0.2, "long": 0.2}}
    ax = viz.bars(groups, ylabel="accuracy", errors=errors)
    spans = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches)
    assert all(left[1] <= right[0] + 1e-9 for left, right in zip(spans, spans[1:], strict=False))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["rnn", "lstm"]
    assert len(ax.containers) == 4  # two groups of bars and their error bars
    with pytest.raises(CourseError, match="same labels"):
        viz.bars({"a": {"x": 1}, "b": {"y": 1}}, ylabel="n")
    with pytest.raises(CourseError, match="at least one"):
        viz.bars({}, ylabel="n")


def test_every_drawing_uses_the_axes_it_is_given():
    figure, axes = plt.subplots(1, 2)
    assert viz.curves({"a": [1, 2]}, xlabel="x", ylabel="y", ax=axes[0]) is axes[0]
    assert viz.alignment(WEIGHTS, SOURCE, TARGET, ax=axes[1]) is axes[1]
    assert plt.get_fignums() == [figure.number]


def test_the_sequential_map_only_gets_darker_and_the_signed_one_peaks_at_zero():
    assert (np.diff(luminance(viz.SEQUENTIAL)) < 0).all()
    assert np.abs(np.subtract(viz.SEQUENTIAL(0.5)[:3], to_rgb(OTHERS["full"][0]))).max() < 0.02
    signed = luminance(viz.DIVERGING)
    assert (np.diff(signed[:51]) > 0).all()
    assert (np.diff(signed[50:]) < 0).all()


def test_style_uses_a_font_that_comes_with_matplotlib_and_draws_letters_as_shapes():
    viz.use_style()
    ax = viz.bars({"a": 1.0}, ylabel="número")
    raw = io.StringIO()
    ax.figure.savefig(raw, format="svg")
    assert "<text" not in raw.getvalue()
    assert plt.rcParams["font.sans-serif"] == ["DejaVu Sans"]
    with pytest.raises(CourseError, match="'svg' or 'png'"):
        viz.use_style("pdf")


def test_whole_steps_get_whole_ticks():
    ax = viz.curves({"a": range(20)}, xlabel="step", ylabel="y")
    ax.figure.canvas.draw()
    assert all(tick == int(tick) for tick in ax.get_xticks())
    ax = viz.curves({"a": ([0.5, 1.0], [1, 2])}, xlabel="time (s)", ylabel="y")
    ax.figure.canvas.draw()
    assert any(tick != int(tick) for tick in ax.get_xticks())
