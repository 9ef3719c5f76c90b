"""New values for the open parameters of a form, by a sampler that has seen what was tried.

The sampler is Optuna's tree-structured Parzen estimator through its ask-and-tell interface (Bergstra, Bardenet, Bengio
and Kegl 2011). It is told everything anew before each round, so that a round depends on what is known and on its seed
alone.
"""

import warnings
from collections.abc import Sequence
from typing import Any

from tamis.base.search_range import Choice, Range
from tamis.base.seeds import spawn
from tamis.compose.chain import as_text
from tamis.mining.template import Form, Path, filled, rounded, slots, value_at


def propose(form: Form, told: Sequence[tuple[Form, float]], count: int, key: tuple[int, ...]) -> list[Form]:
    """Closed forms to try next.

    Parameters
    ----------
    form : Form
        An open form.
    told : sequence of (Form, float)
        Closed forms of it and what they were worth, larger is better.
    count : int
        How many to propose; equal ones and known ones are left out.
    key : tuple of int
        The seed, and what names the round.

    Examples
    --------
    >>> from tamis.compose.recipe import parse
    >>> open_, known = Form.of(parse("cc(geom(1, 500, 5)) | knn(3)")), Form.of(parse("cc(20) | knn(3)"))
    >>> len(propose(open_, [(known, 0.8)], 3, (0, 1)))
    3
    """
    domains = {path: domain for path, domain in slots(form).items() if len(domain.values()) > 1}
    if not domains:
        return []
    import optuna  # late: it takes a third of a second and only the search needs it

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    spaces = {_name(path): _distribution(domain) for path, domain in domains.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of features that are to change
        sampler = optuna.samplers.TPESampler(
            seed=spawn(*key), n_startup_trials=4, multivariate=True, constant_liar=True, warn_independent_sampling=False
        )
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for closed, value in told:
            known = {_name(path): _told(value_at(closed, path), domain) for path, domain in domains.items()}
            if all(spaces[name]._contains(spaces[name].to_internal_repr(v)) for name, v in known.items()):
                study.add_trial(optuna.trial.create_trial(params=known, distributions=spaces, value=value))
        asked = [study.ask(fixed_distributions=spaces).params for _ in range(count)]
    fixed = {path: domain.values()[0] for path, domain in slots(form).items() if path not in domains}
    found = [
        filled(form, {**fixed, **{path: _meant(one[_name(path)], domain) for path, domain in domains.items()}})
        for one in asked
    ]
    seen = {closed for closed, _ in told}
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


def _told(value: Any, domain: Choice | Range) -> Any:
    """A value as the sampler knows it."""
    return as_text(value) if isinstance(domain, Choice) else value


def _meant(value: Any, domain: Choice | Range) -> Any:
    """What the sampler means, in few digits."""
    if isinstance(domain, Choice):
        return next(option for option in domain.options if as_text(option) == value)
    return min(max(rounded(value), domain.low), domain.high)
