"""Batches of ray.data as tensors and back, through Arrow's columns of fixed shape tensors."""

import pyarrow as pa
import pytest
import ray
import ray.data
from ray_cluster import cluster as cluster  # a fixture
from ray_cluster import column, in_store, random_tensor, same

import dovetail as dt

pytestmark = pytest.mark.usefixtures("cluster")


def images(dtype="float32"):
    return random_tensor(dtype, 6 << 16).reshape(96, 8, -1)


def batches(dataset, **options):
    return list(dataset.iter_batches(batch_format="pyarrow", **{"batch_size": None, **options}))


def test_a_tensor_becomes_a_column_without_a_copy():
    tensor = images()
    array = column(tensor)
    assert dt.from_arrow(array).data_ptr() == tensor.data_ptr()
    assert dt.from_arrow(array[10:]).data_ptr() == tensor[10:].data_ptr()


@pytest.mark.parametrize(
    "name",
    [f"{kind}int{bits}" for kind in ("", "u") for bits in (8, 16, 32, 64)]
    + ["float16", "float32", "float64"],
)
def test_columns_are_tensors_in_the_object_store(name):
    tensor = images(name)
    dataset = ray.data.from_arrow(pa.table({"image": column(tensor)}))
    (batch,) = batches(dataset)
    back = dt.from_arrow(batch["image"])
    assert same(back, tensor) and back.readonly and in_store(back)


def test_a_worker_gets_its_batch_in_the_store_and_returns_a_column_of_its_own():
    def double(batch):
        tensor = dt.from_arrow(batch["image"])
        doubled = dt.from_dlpack(tensor.numpy() * 2)
        facts = [in_store(tensor), tensor.readonly]
        return pa.table({"image": column(doubled), "facts": [facts] * len(batch)})

    tensor = images("int32")
    dataset = ray.data.from_arrow(pa.table({"image": column(tensor)}))
    (batch,) = batches(dataset.map_batches(double, batch_format="pyarrow", batch_size=None))
    back = dt.from_arrow(batch["image"])
    assert same(back, dt.from_dlpack(tensor.numpy() * 2)) and in_store(back)
    assert batch["facts"][0].as_py() == [True, True]


def test_batches_are_views_of_their_block_and_rows_of_two_blocks_are_two_arrays():
    tensor = images()
    table = pa.table({"image": column(tensor)})
    parts = [dt.from_arrow(b["image"]) for b in batches(ray.data.from_arrow(table), batch_size=32)]
    assert len(parts) == 3 and parts[1].data_ptr() == parts[0].data_ptr() + parts[0].nbytes
    assert same(parts[1], tensor[32:64]) and in_store(parts[1])
    two_blocks = ray.data.from_arrow([table[:64], table[64:]])
    first, of_both = (batch["image"] for batch in batches(two_blocks, batch_size=48))
    assert in_store(dt.from_arrow(first))
    with pytest.raises(dt.ExchangeError, match="combine_chunks"):
        dt.from_arrow(of_both)
    copied = dt.from_arrow(of_both.combine_chunks())
    assert same(copied, tensor[48:]) and not in_store(copied)


def test_rays_own_tensor_columns_are_taken_without_a_copy():
    tensor = images("float64")
    (batch,) = batches(ray.data.from_numpy(tensor.numpy()))
    (array,) = batch["data"].chunks
    assert array.type.extension_name == "ray.data.arrow_tensor_v2"
    back = dt.from_arrow(array.storage.flatten()).reshape(len(array), *array.type.shape)
    assert same(back, tensor) and in_store(back)
    with pytest.raises(dt.ExchangeError, match=r"a\.flatten\(\)"):
        dt.from_arrow(array)


def test_types_that_arrow_lacks_travel_as_integers():
    tensor = images("bfloat16")
    integers = dt.frombuffer(tensor, dtype="uint16").reshape(tensor.shape)
    assert integers.data_ptr() == tensor.data_ptr()
    (batch,) = batches(ray.data.from_arrow(pa.table({"bits": column(integers)})))
    bits = dt.from_arrow(batch["bits"])
    back = dt.frombuffer(bits, dtype="bfloat16").reshape(bits.shape)
    assert same(back, tensor) and in_store(back) and back.readonly
    with pytest.raises(dt.ExchangeError, match="bfloat16"):
        pa.array(tensor)


def test_numpy_batches_are_tensors_in_the_store():
    tensor = images("int64")
    dataset = ray.data.from_arrow(pa.table({"image": column(tensor)}))
    (batch,) = dataset.iter_batches(batch_format="numpy", batch_size=None)
    back = dt.from_dlpack(batch["image"])
    assert same(back, tensor) and back.readonly and in_store(back)
