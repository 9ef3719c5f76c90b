"""New values for the open parameters of a template, from a sampler that knows all trials of the template.

The sampler is Optuna's tree-structured Parzen estimator (Bergstra, Bardenet, Bengio and Kegl 2011). It is built anew
before each round, so that a round depends on the trials and on its seed alone.
"""

import warnings
from collections.abc import Sequence
from typing import Any

from tamis.base.search_range import Choice, Range
from tamis.base.seeds import spawn
from tamis.compose.chain import as_text
from tamis.mining.template import Path, Template, filled, rounded, slots, value_at


def propose(
    template: Template, known: Sequence[tuple[Template, float]], count: int, key: tuple[int, ...]
) -> list[Template]:
    """Closed templates to try next, at most `count`: equal ones and known ones are left out.

    `known` are closed templates and their values, larger is better; `key` holds the seed and what names the round.

    Examples
    --------
    >>> from tamis.compose.recipe import parse
    >>> open_, known = Template.of(parse("cc(geom(1, 500, 5)) | knn(3)")), Template.of(parse("cc(20) | knn(3)"))
    >>> len(propose(open_, [(known, 0.8)], 3, (0, 1)))
    3
    """
    domains = {path: domain for path, domain in slots(template).items() if len(domain.values()) > 1}
    if not domains:
        return []
    import optuna  # late: it takes a third of a second and only the search needs it

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    spaces = {_name(path): _distribution(domain) for path, domain in domains.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about experimental features
        sampler = optuna.samplers.TPESampler(
            seed=spawn(*key), n_startup_trials=4, multivariate=True, constant_liar=True, warn_independent_sampling=False
        )
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for closed, value in known:
            params = {_name(path): _to_optuna(value_at(closed, path), domain) for path, domain in domains.items()}
            if all(spaces[name]._contains(spaces[name].to_internal_repr(v)) for name, v in params.items()):
                study.add_trial(optuna.trial.create_trial(params=params, distributions=spaces, value=value))
        proposed = [study.ask(fixed_distributions=spaces).params for _ in range(count)]
    fixed = {path: domain.values()[0] for path, domain in slots(template).items() if path not in domains}
    found = [
        filled(template, {**fixed, **{path: _from_optuna(one[_name(path)], dom) for path, dom in domains.items()}})
        for one in proposed
    ]
    seen = {closed for closed, _ in known}
    return [one for one in dict.fromkeys(found) if one not in seen]


def _name(path: Path) -> str:
    return ".".join(map(str, path))


def _distribution(domain: Choice | Range) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if isinstance(domain, Choice):
        return CategoricalDistribution([as_text(option) for option in domain.options])
    log = domain.spacing == "geom"
    if isinstance(domain.low, int) and isinstance(domain.high, int):
        return IntDistribution(domain.low, domain.high, log=log)
    return FloatDistribution(domain.low, domain.high, log=log)


def _to_optuna(value: Any, domain: Choice | Range) -> Any:
    return as_text(value) if isinstance(domain, Choice) else value


def _from_optuna(value: Any, domain: Choice | Range) -> Any:
    """The value that the sampler stands for, with few digits."""
    if isinstance(domain, Choice):
        return next(option for option in domain.options if as_text(option) == value)
    return min(max(rounded(value), domain.low), domain.high)
