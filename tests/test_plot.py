"""The curve drawn with characters."""

from tamis.cli.plot import MARKS, Point, draw


def field(lines, height):
    return [line.partition("┤")[2] for line in lines[1 : height + 1]]


def test_points_are_where_they_belong() -> None:
    points = [Point(1, 0.5), Point(10, 0.3), Point(100, 0.1)]
    rows = field(draw({"a": points}, x_title="x", y_title="y", width=21, height=5), 5)
    assert [(i, row.index("●")) for i, row in enumerate(rows) if "●" in row] == [(0, 0), (2, 10), (4, 20)]


def test_bars_reach_one_error_for_one_curve_alone() -> None:
    points = [Point(1, 0.5, 0.1), Point(10, 0.3, 0.1)]
    one = "\n".join(draw({"a": points}, x_title="x", y_title="y"))
    two = "\n".join(draw({"a": points, "b": points}, x_title="x", y_title="y"))
    assert "│" in one
    assert "│" not in two
    assert "0.60" in one
    assert "0.50" in two


def test_what_cannot_be_drawn_is_left_out() -> None:
    assert draw({}, x_title="x", y_title="y") == []
    assert draw({"a": [Point(0, 0.5), Point(5, float("nan"))]}, x_title="x", y_title="y") == []
    many = {f"c{i}": [Point(1, i), Point(2, i)] for i in range(12)}
    lines = draw(many, x_title="x", y_title="y")
    assert sum(line.strip()[:1] in MARKS for line in lines if line.startswith("  ")) >= len(MARKS)
    assert not any("c9" in line for line in lines)


def test_one_point_and_equal_values() -> None:
    lines = draw({"a": [Point(7, 0.25)], "b": [Point(7, 0.25)]}, x_title="x", y_title="y", height=5)
    assert sum(row.count("●") for row in field(lines, 5)) == 1
    assert not any("○" in row for row in field(lines, 5))
