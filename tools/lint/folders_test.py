"""folders.py: which folders it finds."""

from folders import MOST, check_folders


def files(folder, count):
    return [f"{folder}/{i}.h" for i in range(count)]


def test_a_folder_with_too_many_files_is_named_with_their_number():
    (problem,) = check_folders(["README.md", *files("core", MOST + 1), *files("interop", 3)])
    assert problem.startswith(f"core: {MOST + 1} files, more than {MOST}: ")


def test_files_of_subfolders_do_not_count():
    assert not list(check_folders([*files("core", MOST), *files("core/internal", MOST)]))


def test_the_root_is_a_folder_too():
    (problem,) = check_folders([f"{i}.md" for i in range(MOST + 1)])
    assert problem.startswith(".: ")
