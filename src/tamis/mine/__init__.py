"""The search for the complex model: stages over a store, by an engine, within a budget.

The room can be called: ``tamis.mine(X, y)`` is :func:`tamis.mine.search.mine`.
"""

from tamis.base.callable_room import make_callable

make_callable(__name__, "tamis.mine.search", "mine")
