"""The search space: templates and their slots, what the data narrows, what the user edits."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tamis.base.errors import RecipeError, TamisError
from tamis.base.search_range import Choice, Range
from tamis.compose.catalog import catalog
from tamis.compose.recipe import parse, recipe, to_text
from tamis.data.dataset import Dataset
from tamis.mining.data_traits import DataTraits, data_traits
from tamis.mining.edits import Edits, read_edits
from tamis.mining.space import Space, space
from tamis.mining.template import Template, filled, grid, slots, value_at
from tamis.mining.tuner import propose

WIDE = DataTraits(100, 10_000, 2, 44, 56, sparse=False, nominal=False, missing=False, non_negative=True, counts=True)


def every(known: Space) -> list[Template]:
    """Each preparation, selection and classifier of a space once."""
    classifier = known.classifiers[0]
    return [
        *(Template(preparation, (), classifier) for preparation in known.preparations),
        *(Template((), selection, classifier) for selection in known.selections),
        *(Template((), (), one) for one in known.classifiers),
    ]


def names(known: Space) -> set[str]:
    """The names of all parts at the top of the chains of a space."""
    return {
        call.name for template in every(known) for call in (*template.prepare, *template.select, *template.classify)
    }


@pytest.mark.parametrize(
    ("text", "prepare", "select", "classify"),
    [
        ("standardize | cc(5) | rms_norm | svm", "standardize", "cc(5)", "rms_norm | svm"),
        ("knn(3)", "", "", "knn(3)"),
        ("standardize | rms_norm | svm", "standardize", "", "rms_norm | svm"),
        ("count(9) | stump(7) | pca(2) | svm", "", "count(9) | stump(7)", "pca(2) | svm"),
        ("cc(9) | standardize | ssv(3) | knn", "", "cc(9) | standardize | ssv(3)", "knn"),
    ],
)
def test_a_template_takes_a_chain_apart(text: str, prepare: str, select: str, classify: str) -> None:
    template = Template.of(parse(text))
    assert [" | ".join(map(str, part)) for part in (template.prepare, template.select, template.classify)] == [
        prepare,
        select,
        classify,
    ]
    assert str(template) == str(parse(text))


@given(st.integers(1, 9), st.sampled_from([1, 3]), st.floats(0.1, 10.0))
def test_filling_the_slots_is_undone_by_reading_them(k: int, neighbours: int, cost: float) -> None:
    template = Template.of(
        parse("vote(cc(geom(1, 9, 9)), ssv({1, 2}), at_least={1, 2}) | blend(knn({1, 3}), svm(C=geom(0.1, 10)))")
    )
    values = dict(zip(slots(template), (k, 2, 1, neighbours, cost), strict=True))
    closed = filled(template, values)
    assert {path: value_at(closed, path) for path in values} == values
    assert not slots(closed)


@pytest.mark.parametrize("most", [1, 3, 7, 100])
def test_a_grid_covers_every_slot_and_has_no_more_than_it_may(most: int) -> None:
    template = Template.of(parse("cc(geom(2, 2000, 9)) | knn({1, 3, 5})"))
    found = grid(template, 4, most)
    assert len(found) == len(set(found)) == min(most, 12)
    if most >= 7:
        assert {value_at(one, (1, "n_neighbors")) for one in found} == {1, 3, 5}
        assert len({value_at(one, (0, "k")) for one in found}) == 4


def test_members_of_a_vote_move_together_in_a_grid() -> None:
    found = grid(Template.of(parse("vote(cc(geom(2, 200, 9)), ssv(geom(2, 200, 9))) | knn")), 3, 99)
    assert len(found) == 3
    assert all(
        value_at(one, (0, "estimators", 0, 0, "k")) == value_at(one, (0, "estimators", 1, 0, "k")) for one in found
    )


def test_every_template_of_the_space_builds_and_only_its_slots_are_open() -> None:
    known = space(WIDE)
    for template in every(known):
        for closed in grid(template, 3, 8):
            assert not slots(closed)
            assert to_text(recipe(known.text(closed))) == known.text(closed)


def test_a_part_of_the_catalog_is_searched_unless_there_is_a_reason_not_to() -> None:
    left_out = (
        {"f", "t", "relief", "fr_svm", "probit", "snb", "blasso", "bayes_net", "corona", "tuned_first"}
        | {"ig", "stepwise", "simba", "gflip", "lvq", "incnet", "fsm", "diffusion_tree"}
        | {"sfs", "sffs", "pta", "sbs", "sbfs", "wrapper", "importance"}
        | {"best_first", "focus", "fortal", "genetic", "lvf", "nested_partitions", "random_wrapper"}
        | {"chi2", "count", "variance", "bns", "kl", "pip", "pipp"}
        | {"odds", "tfv", "ti", "wf"}
        | {"committee", "blend"}
    )
    serving = [p for p in catalog().values() if "classify" in p.tasks]
    wanted = {p.name for p in serving if p.kind in ("score", "selector", "classifier")} - left_out
    assert wanted <= names(space(WIDE))
    assert not left_out & names(space(WIDE))


def test_few_columns_bring_the_stepwise_selectors_in() -> None:
    few = names(space(replace(WIDE, n_features=30)))
    assert {"sfs", "sffs", "pta", "sbs", "sbfs", "wrapper", "best_first", "genetic", "lvf", "fortal"} <= few
    assert not {"focus", "random_wrapper"} & few


def test_sparse_counts_bring_their_scores_in_and_put_dense_methods_out() -> None:
    found = names(space(replace(WIDE, sparse=True, n_features=100_000)))
    assert {"chi2", "count", "variance", "ig", "bns", "kl", "pip", "normalize"} <= found
    assert not {"lda", "boost", "odds", "pipp", "tfv", "ti", "wf"} & found


def test_normal_distributions_are_for_dense_columns() -> None:
    def tried(traits: DataTraits) -> set[str]:
        found = [dict(one[-1].arguments) for one in space(traits).classifiers if one[-1].name == "nb"]
        return {arguments["distribution"] for arguments in found}

    assert tried(WIDE) == {"gaussian", "bernoulli", "states"}
    assert tried(replace(WIDE, sparse=True)) == {"bernoulli", "states", "multinomial"}
    assert tried(replace(WIDE, sparse=True, counts=False)) == {"bernoulli", "states"}


def test_what_needs_two_rows_of_a_class_in_a_fold_is_left_out_of_classes_of_two() -> None:
    needing = {"lda", "tree", "nrbf", "esnb", "mdl_histogram"}
    pairs = space(replace(WIDE, n_rows=6, n_classes=3, smallest=2, largest=2))
    threes = space(replace(WIDE, n_rows=7, n_classes=3, smallest=2, largest=3))
    assert not needing & names(pairs)
    assert needing <= names(threes)
    assert pairs.committees == ("blend",)
    assert threes.committees == ("committee", "blend")


def test_what_fits_or_compares_rows_many_times_is_left_out_of_large_data() -> None:
    slow = {"contrasts", "with_probes", "stability_selection", "relieff"}
    assert slow <= names(space(WIDE))
    assert not slow & names(space(replace(WIDE, n_rows=20_000)))


def test_what_weighs_rows_against_each_other_is_for_some_thousand_rows() -> None:
    assert "convex_net" in names(space(WIDE))
    assert "convex_net" not in names(space(replace(WIDE, n_rows=20_000)))


@pytest.mark.parametrize("task", ["classify", "regress"])
def test_what_takes_long_is_tried_where_the_budget_is_many_times_as_long(task, monkeypatch) -> None:
    traits = replace(WIDE, n_rows=1_000, n_features=1_000, task=task)

    def tried(seconds: float | None, among: str = "classifiers") -> bool:
        found = space(traits, None, seconds)
        return "bayes_net" in {
            one[-1].name for one in (found.classifiers, [pair[1] for pair in found.bases])[among != "classifiers"]
        }

    assert [tried(seconds) for seconds in (None, 600, 3_000)] == [False, False, True]
    assert [tried(seconds, "bases") for seconds in (3_000, 30_000)] == [False, True]
    monkeypatch.setitem(sys.modules, "jax", None)
    assert not tried(3_000)


def test_what_takes_long_on_all_columns_is_tried_behind_a_selection() -> None:
    def on_all_columns(seconds: float | None) -> bool:
        found = space(replace(WIDE, n_rows=2_000, n_features=500), None, seconds)
        assert "bayes_logistic" in {one[-1].name for one in found.classifiers}
        return "bayes_logistic" in {classifier[-1].name for _, classifier in found.bases}

    assert [on_all_columns(seconds) for seconds in (None, 90, 600)] == [False, False, True]


def test_what_asks_about_every_column_with_the_values_of_many_rows_is_for_hundreds_of_columns() -> None:
    assert "importance" in names(space(replace(WIDE, n_features=200)))
    assert "importance" not in names(space(WIDE))
    assert "importance" not in names(space(replace(WIDE, n_features=200, n_rows=20_000)))


def test_criteria_of_numbers_are_left_out_where_there_is_text_or_nothing() -> None:
    def tried(traits: DataTraits) -> set[str]:
        found = [selection[0] for selection in space(traits).selections if selection[0].name == "mrmr"]
        return set(dict(found[0].arguments)["criterion"].values())

    assert tried(WIDE) == {"mid", "miq", "fcq"}
    assert tried(replace(WIDE, nominal=True)) == tried(replace(WIDE, missing=True)) == {"mid", "miq"}


def test_trees_wait_behind_a_selection_where_columns_are_many() -> None:
    trees = {"tree", "forest", "extra_trees", "boost"}
    assert not trees & {one[-1].name for _, one in space(WIDE).bases}
    assert trees <= {one[-1].name for one in space(WIDE).classifiers}


def test_columns_are_not_scaled_for_trees() -> None:
    few = space(replace(WIDE, n_features=500))
    behind: dict[str, set[str]] = {}
    for preparation, classifier in few.bases:
        behind.setdefault(classifier[-1].name, set()).add("".join(map(str, preparation)))
    assert "standardize" in behind["knn"] & behind["svm"]
    assert "standardize" not in behind["tree"] | behind["forest"] | behind["extra_trees"] | behind["boost"]
    assert all("" in one for one in behind.values())


def test_numbers_of_columns_and_of_neighbours_stay_within_the_data() -> None:
    for n_classes, neighbours in ((2, 10), (3, 10), (14, 2), (30, 1)):
        known = space(replace(WIDE, n_rows=30, n_features=80, n_classes=n_classes))
        highs: dict[str, list[float]] = {}
        for template in every(known):
            for path, domain in slots(template).items():
                if path[-1] in ("k", "n_neighbors") and isinstance(domain, Range):
                    highs.setdefault(template.chain.parts[path[0]].name, []).append(domain.high)  # type: ignore[union-attr,index]
        assert max(highs.pop("knn")) == neighbours
        assert all(max(values) <= 60 for values in highs.values())


def test_classes_of_one_size_leave_nothing_to_balance() -> None:
    even, uneven = space(replace(WIDE, largest=50, smallest=50)), space(WIDE)
    assert not any(path[-1] == "class_weight" for template in every(even) for path in slots(template))
    assert any(path[-1] == "class_weight" for template in every(uneven) for path in slots(template))


def test_a_width_is_open_only_beside_the_kernel_that_has_one() -> None:
    machines = [template for template in every(space(WIDE)) if template.classify[-1].name == "svm"]
    kernels = {
        dict(template.classify[-1].arguments)["kernel"]: set(dict(template.classify[-1].arguments))
        for template in machines
    }
    assert "sigma" in kernels["gaussian"]
    assert "sigma" not in kernels["linear"]


def test_the_rows_are_scaled_before_what_is_searched_on_rows_of_length_one() -> None:
    for template in every(space(WIDE)):
        assert (template.classify[-1].name in ("svm", "logistic")) == any(
            call.name == "rms_norm" for call in template.classify
        )


def test_parts_that_are_not_wanted_are_nowhere_not_even_within_others() -> None:
    known = space(WIDE, Edits(without=("extra_trees", "svm", "ssv")))
    assert not {"extra_trees", "svm", "ssv"} & names(known)
    assert not any("extra_trees" in str(template) or "ssv(" in str(template) for template in every(known))


def test_committees_can_be_left_out() -> None:
    assert space(WIDE, Edits(without=("blend",))).committees == ("committee",)


def test_without_any_classifier_there_is_no_search() -> None:
    classifiers = tuple(p.name for p in catalog().values() if p.kind == "classifier")
    with pytest.raises(TamisError, match="no classifier is left"):
        space(WIDE, Edits(without=classifiers))


def test_templates_to_try_are_opened_and_are_all_there_is() -> None:
    known = space(WIDE, Edits(only=("{cc, ssv(20)} | knn(3)", "standardize | svm(gaussian)")))
    assert not known.preparations
    neighbours = "knn(3, metric={minkowski, canberra, chebyshev})"
    machine = "svm(gaussian, C=geom(0.01, 1000.0, 10), sigma=geom(0.1, 10.0, 10), class_weight={balanced, none})"
    assert [str(template) for template in known.templates] == [
        f"cc(geom(2, 7500, 10)) | {neighbours}",
        f"ssv(20) | {neighbours}",
        f"standardize | rms_norm | {machine}",
    ]


def test_a_template_to_try_ends_in_a_classifier() -> None:
    with pytest.raises(TamisError, match="must end in a classifier"):
        space(WIDE, Edits(only=("standardize | cc",)))


def test_nominal_and_missing_values_are_seen_to() -> None:
    known = space(replace(WIDE, nominal=True, missing=True))
    assert known.text(Template.of(parse("cc(5) | svm"))) == "impute | encode | cc(5) | svm"


def test_edits_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "space.toml"
    path.write_text('try = ["cc | svm"]\nwithout = ["knn"]\n[search.svm]\nC = "geom(1, 8, 4)"\nkernel = "linear"\n')
    found = read_edits(path)
    assert found == Edits(
        ("cc | svm",), ("knn",), {("svm", "C"): Range("geom", 1, 8, 4), ("svm", "kernel"): Choice(("linear",))}
    )
    (template,) = space(WIDE, found).templates
    assert str(template.classify[-1]) == "svm(linear, C=geom(1, 8, 4), class_weight={balanced, none})"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("try = 3", "try takes a list of strings"),
        ("tries = []", "unknown key 'tries'"),
        ('without = ["nobody"]', "no part is called 'nobody'"),
        ("[search.svm]\nD = 3", "svm has no parameter 'D'"),
        ("[search.nobody]\nC = 3", "no part is called 'nobody'"),
        ("search = 3", "search takes one table per part"),
        ("[search]\nsvm = 3", "search.svm takes parameters"),
        ("[search.svm]\nC = -3", "svm: C takes"),
        ('try = ["cc |"]', "recipe"),
        ("try = [", "nvalid"),
    ],
)
def test_a_wrong_file_of_edits_is_refused_by_name(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "space.toml"
    path.write_text(text)
    with pytest.raises((TamisError, RecipeError), match=r"space\.toml") as refused:
        read_edits(path)
    if sentence != "recipe":
        assert sentence in str(refused.value)


def test_a_file_of_edits_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TamisError, match=r"none\.toml: No such file"):
        read_edits(tmp_path / "none.toml")


@pytest.mark.parametrize("sparse", [False, True])
def test_traits_of_numbers(sparse: bool) -> None:
    X = np.array([[0.0, 2.0], [1.0, 0.0], [0.0, 1.0], [0.0, 3.0]])
    found = data_traits(Dataset.of(sp.csr_matrix(X) if sparse else X, ["a", "b", "b", "b"]))
    assert found == DataTraits(
        4, 2, 2, 1, 3, sparse=sparse, nominal=False, missing=False, non_negative=True, counts=True
    )
    assert found.uneven
    below = data_traits(Dataset.of(sp.csr_matrix(X - 1) if sparse else X - 1, ["a", "b", "b", "b"]))
    assert not below.non_negative
    assert not below.counts
    assert not data_traits(Dataset.of(X + 0.5, [0, 1, 1, 1])).counts


def test_the_classes_of_other_rows_do_not_narrow_a_search() -> None:
    y = np.array([0, 0, 0, 0, 1, 1, 2])
    found = data_traits(Dataset.of(np.arange(14.0).reshape(7, 2), y)).for_rows(y[:6])
    assert (found.n_rows, found.n_classes, found.smallest, found.largest) == (6, 2, 2, 4)
    assert found.n_features == 2


def test_traits_of_a_table() -> None:
    import polars as pl

    X = pl.DataFrame({"colour": ["red", None, "blue"], "size": [1.0, 2.0, 3.0]})
    found = data_traits(Dataset.of(X, [0, 1, 1]))
    assert found.nominal
    assert found.missing
    assert not found.counts


def test_proposals_follow_the_known_values() -> None:
    template = Template.of(parse("cc(geom(1, 1000, 9)) | knn({1, 3})"))

    def value_of(one: Template) -> float:
        return -abs(np.log(value_at(one, (0, "k")) / 30)) - (value_at(one, (1, "n_neighbors")) == 1)

    known = [(one, value_of(one)) for one in grid(template, 5, 10)]
    start = max(value for _, value in known)
    for round_ in range(4):
        known += [(one, value_of(one)) for one in propose(template, known, 6, (0, round_))]
    assert len({one for one, _ in known}) == len(known)
    assert max(value for _, value in known) > start
    # Late proposals are nearer to the best than chance would have them.
    assert np.mean([value for _, value in known[-12:]]) > np.mean([value for _, value in known[:10]])


def test_proposals_depend_on_the_key_and_the_known_values_alone() -> None:
    template = Template.of(parse("cc(geom(1, 1000, 9)) | svm(C=geom(0.1, 10.0, 5))"))
    known = [(one, float(i)) for i, one in enumerate(grid(template, 3, 9))]
    assert propose(template, known, 5, (0, 1)) == propose(template, known, 5, (0, 1))
    assert propose(template, known, 5, (0, 1)) != propose(template, known, 5, (0, 2))
    for one in propose(template, known, 5, (0, 1)):
        assert len(f"{value_at(one, (1, 'C')):.10g}".replace(".", "").strip("0")) <= 3


def test_a_template_without_slots_has_nothing_to_propose() -> None:
    assert propose(Template.of(parse("cc(5) | knn({3})")), [], 5, (0,)) == []
