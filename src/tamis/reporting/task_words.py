"""The words of a report that depend on what the target holds, classes or numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tamis.base.task import Task


@dataclass(frozen=True)
class TaskWords:
    """The words of one task.

    Attributes
    ----------
    chance : str
        What a model without features reaches, around its value.
    effect : str
        What the effect of a feature is.
    pick, legend : str
        What the figure of one feature shows, and its legend.
    permuted, restored : str
        What the permutation test permutes, and what it is compared with.
    true, noun, values : str
        The target as it is, by itself, and what it holds.
    sampled : str
        How the rows of a figure were drawn from all.
    ensemble, members : str
        What an ensemble of some models predicts.
    node : str
        What a box of a tree shows.
    unlabelled : str
        The rows without a target.
    """

    chance: str
    effect: str
    pick: str
    legend: str
    permuted: str
    restored: str
    true: str
    noun: str
    values: str
    sampled: str
    ensemble: str
    members: str
    node: str
    unlabelled: str


_WORDS: dict[Task, TaskWords] = {
    "classify": TaskWords(
        chance="{} would be guessing",
        effect="the difference of the means in standard deviations within the classes, or of the shares of a level",
        pick="Distribution of the feature in each class",
        legend="Classes shown",
        permuted="the classes were permuted",
        restored="the true ones",
        true="true classes",
        noun="classes",
        values="labels",
        sampled="in the proportions of the classes",
        ensemble="an ensemble, the mean probability of {}",
        members="The mean probability of {}:",
        node="the bar in a box shows its classes, which are those of training rows",
        unlabelled="Rows without class",
    ),
    "regress": TaskWords(
        chance="the mean alone has {}",
        effect="the correlation with the target, or how much higher the mean of the target is at a level than at all "
        "others, in standard deviations of the target",
        pick="Mean of the target against the feature, and the distribution of the feature",
        legend="Shown",
        permuted="the target was permuted",
        restored="the true one",
        true="true target",
        noun="target",
        values="numbers",
        sampled="over the whole range of the target",
        ensemble="an ensemble, the mean prediction of {}",
        members="The mean prediction of {}:",
        node="a box shows the mean of the target in training rows",
        unlabelled="Rows without target",
    ),
}


def task_words(task: Task) -> TaskWords:
    """The words of a task."""
    return _WORDS[task]


def words_of(facts: Mapping[str, Any]) -> TaskWords:
    """The words of a report, by its data, or by its metric where it has no data."""
    known = facts.get("data") or (facts.get("answer") or {}).get("metric") or {}
    return _WORDS[known.get("task", "classify")]
