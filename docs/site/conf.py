"""Sphinx's configuration; `scripts/docs` says where the pages come from."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from site_sources import source_address

import cvzoo

project = "cvzoo"
copyright = "the authors of cvzoo"
release = version = cvzoo.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.linkcode", "site_extension"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"
language = "en"

myst_heading_anchors = 4
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = False
autodoc_typehints_format = "short"
autodoc_class_signature = "mixed"
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"cvzoo {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "github-dark"

# names that two rooms have ("cvzoo.Variable", "cvzoo.autodiff.Variable") are one thing: either entry will do
suppress_warnings = ["ref.python"]


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """The address of a name's source, for Sphinx."""
    module = info["module"]
    return source_address(f"{module}.{info['fullname']}" if module else info["fullname"])
