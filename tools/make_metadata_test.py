"""make_metadata.py: what it writes, read as pip and PyPI read it."""

import email
import re

import make_metadata
import pytest

README = (
    "[guide](docs/guide.md), [part](docs/guide.md#part), [site](https://example.org), [here](#here)"
)
PICTURE = "![speed](docs/speed.svg)"


@pytest.fixture
def write(tmp_path):
    def write(*more):
        """The metadata, as an email message with a body."""
        readme = tmp_path / "README.md"
        readme.write_text(f"{README}\n{PICTURE}\n")
        output = tmp_path / "METADATA"
        make_metadata.main(
            [
                f"--output={output}",
                f"--readme={readme}",
                "--distribution=dovetail-dlpack",
                "--version=1.2.3",
                "--summary=Exchanges tensors",
                "--requires-python=>=3.10",
                *more,
            ]
        )
        return email.message_from_string(output.read_text())

    return write


def test_it_has_the_name_the_version_and_the_pythons_that_it_is_for(write):
    message = write()
    assert (message["Name"], message["Version"]) == ("dovetail-dlpack", "1.2.3")
    assert (message["Summary"], message["Requires-Python"]) == ("Exchanges tensors", ">=3.10")
    assert message["Description-Content-Type"] == "text/markdown"
    assert "[site](https://example.org), [here](#here)" in message.get_payload()


def test_an_extra_has_all_of_its_requirements_and_nothing_is_required_without_one(write):
    message = write("--extra=numpy:numpy>=2", "--extra=mpi:mpi4py", "--extra=numpy:ml_dtypes")
    assert message.get_all("Provides-Extra") == ["mpi", "numpy"]
    assert message.get_all("Requires-Dist") == [
        'mpi4py; extra == "mpi"',
        'ml_dtypes; extra == "numpy"',
        'numpy>=2; extra == "numpy"',
    ]
    assert write().get_all("Requires-Dist") is None


def test_without_a_repository_links_to_files_are_text_and_pictures_go(write):
    text = write().get_payload()
    assert text == "guide, part, [site](https://example.org), [here](#here)\n"


def test_classifiers_and_licences_are_listed(write):
    message = write("--keyword=dlpack", "--keyword=tensor")
    assert message["Keywords"] == "dlpack,tensor"
    message = write("--classifier=Typing :: Typed", "--license=./LICENSE", "--license=parts/NOTICE")
    assert message.get_all("Classifier") == ["Typing :: Typed"]
    assert message["License-Expression"] == "Apache-2.0"
    assert message.get_all("License-File") == ["LICENSE", "parts/NOTICE"]


def test_addresses_and_absolute_links_are_those_of_the_repository(write):
    message = write("--repository=owner/name")
    urls = dict(line.split(", ") for line in message.get_all("Project-URL"))
    site = "https://github.com/owner/name"
    assert urls["Homepage"] == site and urls["Issues"] == f"{site}/issues"
    assert set(re.findall(r"\]\(([^)]+)\)", message.get_payload())) == {
        f"{site}/blob/v1.2.3/docs/guide.md",
        f"{site}/blob/v1.2.3/docs/guide.md#part",
        "https://example.org",
        "#here",
        f"{site}/raw/v1.2.3/docs/speed.svg",
    }


def test_links_are_relative_to_the_folder_of_the_readme(write):
    message = write("--repository=owner/name", "--folder=kit/docs")
    links = re.findall(r"\]\(([^)]+)\)", message.get_payload())
    assert links[0] == "https://github.com/owner/name/blob/v1.2.3/kit/docs/docs/guide.md"


def test_without_a_repository_no_address_is_invented(write):
    message = write()
    assert message.get_all("Project-URL") is None
    assert "github.com" not in message.get_payload()
