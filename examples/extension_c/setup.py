"""Compiles extension_c.c, with the header of the dovetail that pip has installed for the build."""

from setuptools import Extension, setup

import dovetail

setup(
    ext_modules=[
        Extension(
            "extension_c",
            ["extension_c.c"],
            include_dirs=[dovetail.get_include()],
            extra_compile_args=["-std=c11"],
            libraries=["m"],
        )
    ]
)
