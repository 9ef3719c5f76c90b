"""Conformance checks: what every part of tamis passes, for a selector, classifier or regressor of your own.

``check(estimator)`` runs scikit-learn's own checks and ours and raises at the first failure; ``checks(estimator)``
yields them one by one for a test runner::

    import pytest
    from tamis.testing import checks

    @pytest.mark.parametrize(("name", "run"), list(checks(MySelector())))
    def test_mine(name, run):
        run()
"""

from tamis.testing.conformance import check, checks

__all__ = ["check", "checks"]
