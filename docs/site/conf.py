"""Sphinx's configuration of the documentation site. build.py calls Sphinx."""

import os

import dovetail

project = "Dovetail"
author = "the Dovetail authors"
release = version = dovetail.__version__
root_doc = "index"
language = "en"
highlight_language = "text"  # of blocks that name no language

extensions = [
    "breathe",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "cpp_headers",
    "docstrings",
    "narrow_tables",
    "repository_links",
]

# Markdown, as GitHub reads it.
myst_enable_extensions = ["colon_fence", "deflist", "linkify"]
myst_heading_anchors = 6
myst_linkify_fuzzy_links = False
source_url = os.environ.get("DOVETAIL_SOURCE_URL", "")

# References that lead nowhere are errors (--strict), except names of other projects.
_C_TYPES = r"u?int\d*_t|size_t|ptrdiff_t|uintptr_t|PyObject|_object|(k?DL|PyCapsule)\w*|U?Int\d+"
_TEMPLATE_PARAMETERS = r"T|U|A|E|Deleter|Rules|Sink|H"
_NOT_SHOWN = r".*@\d+|DOVETAIL_\w+|Facts::.*"
_PYTHON_TYPES = r"Buffer|CapsuleType|_?PathLike|TracebackType|_T|contextlib\.\w+|MPI\.\w+"
nitpick_ignore_regex = [
    (r"cpp:identifier", r"(dovetail::)?(absl|std|internal_\w+)(::.*)?|dovetail::View<.*"),
    (r"cpp:identifier", f"{_C_TYPES}|{_TEMPLATE_PARAMETERS}|{_NOT_SHOWN}"),
    (r"py:class", f"{_PYTHON_TYPES}|_StreamContext|collections.abc.Callable"),
]
# Each header opens the same namespaces.
suppress_warnings = ["duplicate_declaration.cpp"]

breathe_projects = {"dovetail": os.environ["DOVETAIL_DOXYGEN_XML"]}
breathe_default_project = "dovetail"
breathe_show_include = False
cpp_maximum_signature_line_length = 90
python_maximum_signature_line_length = 90

autodoc_mock_imports = ["mpi4py", "numpy", "ray"]
autodoc_member_order = "bysource"
add_module_names = False
python_use_unqualified_type_names = True

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"Dovetail {version}"
html_logo = "images/logo.svg"
html_favicon = "images/logo.svg"
html_static_path = ["style"]
html_css_files = ["style.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#3451b2",
        "color-brand-content": "#3451b2",
    },
    "dark_css_variables": {
        "color-brand-primary": "#9db1ff",
        "color-brand-content": "#9db1ff",
    },
    "sidebar_hide_name": False,
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
