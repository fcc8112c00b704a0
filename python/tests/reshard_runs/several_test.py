"""dovetail.reshard.run: several tensors, for which the ranks meet once."""

import re

import pytest
import several_workers
from ranks import Raised, Rank, call_all, unique_name

SIZE = 3


@pytest.fixture(scope="module")
def crew():
    ranks = [Rank() for _ in range(SIZE)]
    name = unique_name()
    call_all(ranks, several_workers.join, [(name, rank, SIZE) for rank in range(SIZE)])
    yield ranks
    for rank in ranks:
        rank.end()


def test_all_tensors_arrive(crew):
    for _ in range(3):
        assert call_all(crew, several_workers.run_all, [()] * SIZE) == [[]] * SIZE
    assert call_all(crew, several_workers.run_nothing, [()] * SIZE) == [[]] * SIZE


@pytest.mark.parametrize("rank", range(SIZE))
def test_ranks_with_other_numbers_of_tensors_all_raise(crew, rank):
    answers = call_all(crew, several_workers.run_fewer, [(rank,)] * SIZE)
    assert [answer.kind for answer in answers] == ["ValueError"] * SIZE
    assert all(re.search("4 tensors.* 5|5 tensors.* 4", answer.text) for answer in answers)
    test_all_tensors_arrive(crew)


@pytest.mark.parametrize("rank", range(SIZE))
def test_ranks_with_tensors_in_another_order_all_raise(crew, rank):
    answers = call_all(crew, several_workers.run_other_order, [(rank,)] * SIZE)
    assert [answer.kind for answer in answers] == ["ValueError"] * SIZE
    assert all("(number 0 of the tensors)" in answer.text for answer in answers)
    test_all_tensors_arrive(crew)


@pytest.mark.parametrize("rank", range(SIZE))
def test_an_error_names_the_tensor_to_all(crew, rank):
    answers = call_all(crew, several_workers.run_with_wrong_shard, [(rank,)] * SIZE)
    kinds = ["ValueError" if number == rank else "RuntimeError" for number in range(SIZE)]
    assert [answer.kind for answer in answers] == kinds
    assert all("number 3: shards[0] has shape (1,)" in answer.text for answer in answers)
    test_all_tensors_arrive(crew)


@pytest.mark.parametrize("rank", range(SIZE))
def test_no_tensor_is_written_into_the_shard_of_another(crew, rank):
    answers = call_all(crew, several_workers.run_into_a_shard, [(rank,)] * SIZE)
    assert isinstance(answers[rank], Raised) and "shares memory with a shard" in answers[rank].text
    test_all_tensors_arrive(crew)
