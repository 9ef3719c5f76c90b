"""Every door of tamis in one script: load, rank, recipe, validate, mine, report and predict."""

from pathlib import Path
from tempfile import TemporaryDirectory

import tamis
from tamis.compose.model_file import card_of, save_model
from tamis.discretize import Discretize
from tamis.scores import cc
from tamis.select import MRMR
from tamis.validation import validate_many, validate_nested


def main() -> None:
    """Go through the doors with small data."""
    data = tamis.load("madelon-like").rows(slice(0, 120))
    table = tamis.rank(data, by="ssv(20)")
    print(table.head(3))
    print(cc(data.X, data.y).shape, MRMR(5).fit(data.X, data.y).get_support().sum(), Discretize("sigma").fit(data.X).by)
    model = tamis.recipe("cc(20) | knn(5)")
    print(tamis.validate(model, data, folds=3).summary()["ber"].mean)
    print(validate_many("cc({5, 20}) | knn(5)", data, folds=3).best.recipe)
    print(validate_nested("cc({5, 20}) | knn(5)", data, folds=3, inner_folds=3).choice)
    with TemporaryDirectory() as folder:
        run, path = Path(folder, "small.tamis-run"), Path(folder, "small.tamis-model")
        found = tamis.mine(data, trials=2, only=["cc(5) | knn(3)"], engine="serial", folds=2, inner_folds=2, run=run)
        print(found.recipe_, tamis.report(run, out=Path(folder, "page.html")).facts["title"])
        save_model(path, found.model, card_of(found.model, data))
        print(tamis.predict(path, data.X[:5]).table["class"].to_list())


if __name__ == "__main__":
    main()
