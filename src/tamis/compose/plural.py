"""A number and its noun."""


def counted(number: float, one: str, many: str = "") -> str:
    """A number with the noun that goes with it; the plural has an "s" unless `many` is given.

    Examples
    --------
    >>> counted(1, "model"), counted(1200, "model"), counted(0, "class", "classes")
    ('1 model', '1,200 models', '0 classes')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
