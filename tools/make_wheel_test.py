"""make_wheel.py: the names, the tags and the bytes of a wheel."""

import zipfile

import make_wheel
import pytest


@pytest.fixture
def build(tmp_path, monkeypatch):
    """A function that makes a wheel of a small package, and returns its path."""
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "python/dovetail/__init__.py": "1\n",
        "out/bin/python/dovetail/_core.so": "machine code",
        "METADATA": "Name: dovetail\n",
        "texts/LICENSE": "licence",
        "texts/bill.json": "{}",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def build(output="dovetail.whl", tag="cp312-cp312-manylinux_2_28_aarch64"):
        make_wheel.main(
            [
                f"--output={output}",
                f"--tag={tag}",
                "--distribution=dovetail-dlpack",
                "--version=1.2.3",
                "--package=python",
                "--metadata=METADATA",
                "--extension=out/bin/python/dovetail/_core.so",
                "--extension-suffix=.cpython-312-aarch64-linux-gnu.so",
                "--license=./texts/LICENSE",
                "--sbom=texts/bill.json",
                "--entry-point=cmake.root:dovetail=dovetail",
                "python/dovetail/__init__.py",
            ]
        )
        return tmp_path / output

    return build


def test_files_are_where_installers_look_for_them(build):
    with zipfile.ZipFile(build()) as wheel:
        assert wheel.namelist() == [
            "dovetail/__init__.py",
            "dovetail/_core.cpython-312-aarch64-linux-gnu.so",
            "dovetail_dlpack-1.2.3.dist-info/METADATA",
            "dovetail_dlpack-1.2.3.dist-info/WHEEL",
            "dovetail_dlpack-1.2.3.dist-info/entry_points.txt",
            "dovetail_dlpack-1.2.3.dist-info/licenses/texts/LICENSE",
            "dovetail_dlpack-1.2.3.dist-info/sboms/bill.json",
            "dovetail_dlpack-1.2.3.dist-info/RECORD",
        ]
        assert wheel.read("dovetail_dlpack-1.2.3.dist-info/METADATA") == b"Name: dovetail\n"


def test_the_tag_is_that_of_the_command(build):
    with zipfile.ZipFile(build(tag="cp313-cp313t-manylinux_2_28_x86_64")) as wheel:
        lines = wheel.read("dovetail_dlpack-1.2.3.dist-info/WHEEL").decode().splitlines()
    assert "Tag: cp313-cp313t-manylinux_2_28_x86_64" in lines
    assert "Root-Is-Purelib: false" in lines


def test_the_extension_alone_is_executable(build):
    with zipfile.ZipFile(build()) as wheel:
        modes = {one.filename: one.external_attr >> 16 & 0o777 for one in wheel.infolist()}
    assert {name for name, mode in modes.items() if mode == 0o755} == {
        "dovetail/_core.cpython-312-aarch64-linux-gnu.so"
    }


def test_the_same_files_give_the_same_bytes(build):
    assert build("a.whl").read_bytes() == build("b.whl").read_bytes()


def test_a_package_without_an_extension_is_pure(tmp_path):
    (tmp_path / "kit").mkdir()
    for name in ("kit/__init__.py", "METADATA"):
        (tmp_path / name).write_text("1\n")
    wheel = tmp_path / "kit.whl"
    options = [f"--output={wheel}", "--tag=py3-none-any", "--distribution=kit", "--version=1.0"]
    options += [f"--package={tmp_path.name}", f"--metadata={tmp_path / 'METADATA'}"]
    make_wheel.main([*options, str(tmp_path / "kit/__init__.py")])
    with zipfile.ZipFile(wheel) as archive:
        assert archive.namelist()[:1] == ["kit/__init__.py"]
        assert b"Root-Is-Purelib: true\n" in archive.read("kit-1.0.dist-info/WHEEL")
