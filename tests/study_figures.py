"""What every figure of a study must hold, and a look at its numbers by name."""

import json

from tamis.reporting.figures_page import figure_numbers


def described(study, findings):
    """The numbers of the figures of some findings by name, after what all must hold."""
    assert study.figures({}) == []
    figures = study.figures(findings)
    numbers = json.loads(json.dumps(figure_numbers(figures), allow_nan=False))
    found = {}
    for one in numbers:
        assert one["name"] not in found
        assert one["name"].replace("_", "").replace("-", "").replace(".", "").isalnum()
        assert one["title"]
        assert one["caption"].endswith(".")
        assert any(len(panel["marks"]) for panel in one["panels"])
        marks = [mark for panel in one["panels"] for mark in panel["marks"]]
        for mark in marks:
            if mark["kind"] == "series":
                assert len(mark["x"]) == len(mark["y"]) == len(mark.get("reach", mark["x"]))
            else:
                assert len(mark.get("at", ())) == len(mark.get("length", ()))
        found[one["name"]] = {mark["label"]: mark for mark in marks}
    return found
