"""Bayesian networks by Hamiltonian Monte Carlo: leapfrog steps and draws a second, on a CPU or a GPU.

    python -m benchmarks bayes_net --rows 6000 --columns 5000 --device gpu

By default 1000 rows of 20 columns. The transfer of the rows to the device is part of the time.
"""

import argparse
import os
import time
from typing import Any

import numpy as np

#: Run only when it is named, which lets it take options.
ONLY_NAMED = True


def _options(given: list[str] | None) -> argparse.Namespace:
    reader = argparse.ArgumentParser(prog="python -m benchmarks bayes_net", description=__doc__)
    reader.add_argument("--rows", type=int, default=1000)
    reader.add_argument("--columns", type=int, default=20)
    reader.add_argument("--hidden", type=int, default=8)
    reader.add_argument("--chains", type=int, default=2)
    reader.add_argument("--draws", type=int, default=20, help="rounds after 10 of warm-up")
    reader.add_argument("--leapfrog", type=int, default=20)
    reader.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    return reader.parse_args(given or [])


def main(given: list[str] | None = None) -> None:
    options = _options(given)
    # JAX looks at it when it is first imported.
    os.environ["JAX_PLATFORMS"] = "cpu" if options.device == "cpu" else "cuda"
    import jax

    from tamis.bayes.density import Data
    from tamis.bayes.network import Network
    from tamis.bayes.priors import Priors
    from tamis.bayes.sampler import Settings, sample

    rng = np.random.default_rng(0)
    X = rng.standard_normal((options.rows, options.columns))
    evidence = 2.0 * np.tanh(X[:, 0]) + X[:, min(1, options.columns - 1)] + 0.5 * rng.standard_normal(options.rows)
    columns = np.arange(options.columns)
    data = Data(X, (evidence > 0).astype(float), np.ones(options.rows), columns, columns >= 0)
    network = Network(options.columns, (options.hidden,), 1, "logistic")

    def run(seed: int) -> tuple[float, Any]:
        settings = Settings(options.chains, options.draws, 10, 5, "hmc", options.leapfrog)
        start = time.perf_counter()
        found = sample(network, Priors(), data, settings, seed)
        return time.perf_counter() - start, found

    first, _ = run(0)
    seconds, found = run(1)
    rounds = options.chains * (options.draws + 10)
    size = f"{options.rows} x {options.columns}, {options.hidden} hidden units, {options.chains} chains"
    print(f"{size}, on {jax.devices()[0].device_kind} ({jax.default_backend()})", flush=True)
    print(f"  {found.leapfrogs / seconds:12.1f} leapfrog steps a second, of all chains together")
    print(f"  {rounds / seconds:12.2f} draws a second, of {found.leapfrogs / rounds:.1f} leapfrog steps each")
    print(f"  {seconds:12.2f} s for {rounds} draws; {first - seconds:.1f} s to compile; {found.accepted:.2f} accepted")
