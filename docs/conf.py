"""The documentation as a site: ``make docs`` builds it."""

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from make_reference import write_reference  # noqa: E402

import tamis  # noqa: E402

project = "tamis"
author = "the tamis developers"
version = release = tamis.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax"]
extensions += ["sphinx_gallery.gen_gallery"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
# Links to headings of other pages.
myst_heading_anchors = 3
exclude_patterns = ["_build", "_templates", "__pycache__"]

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

templates_path = ["_templates"]

html_theme = "pydata_sphinx_theme"
html_title = "tamis"
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "default",
}
html_sidebars = {"index": []}
html_show_sourcelink = False
html_copy_source = False


sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
}


def add_recipe_word(app: object, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """The word of a part, below the first line of its class."""
    part = getattr(obj, "part", None)
    if what == "class" and part is not None and part.name != "ranking":
        lines[1:1] = ["", f"In a recipe: ``{part.name}``.", ""]


def setup(app: Any) -> None:
    write_reference(HERE / "reference")
    app.connect("autodoc-process-docstring", add_recipe_word, priority=900)
