"""The rules that the kit checks, each with the document that states it.

producer.copied-flag     what --rule takes
must                     "must" where the document requires it, "should" where it recommends it,
                         "hardening" where none speaks of it: a consumer that does otherwise can
                         be crashed by a faulty producer
number                   the rule of docs/protocol_rules.txt that Dovetail keeps for it, or None
"""

from typing import NamedTuple

HEADER = "dlpack.h 1.3, "
PYTHON = "DLPack's Python specification, "
ARRAY_API = "Python array API standard, "
NONE = "no document"
LEVELS = ("must", "should", "hardening")


class Rule(NamedTuple):
    id: str
    level: str
    number: int | None
    sentence: str
    source: str

    @property
    def role(self):
        """Whom the rule binds: producer or consumer."""
        return self.id.partition(".")[0]


def _rule(id, level, number, sentence, source):
    return Rule(id, level, number, " ".join(sentence.split()), source)


RULES = (
    _rule("producer.device", "must", 32,
          "__dlpack_device__() returns the device type and id that the capsule says.",
          ARRAY_API + "__dlpack_device__"),
    _rule("producer.device-id", "must", 20,
          "The device id of memory of the CPU is 0.",
          HEADER + "DLDevice.device_id"),
    _rule("producer.legacy", "should", 34,
          "Without max_version the result is a capsule named dltensor, or a BufferError.",
          ARRAY_API + "__dlpack__, notes"),
    _rule("producer.versioned", "should", 35,
          "For max_version (1, 0) and later ones the result is a capsule named dltensor_versioned.",
          ARRAY_API + "__dlpack__, notes"),
    _rule("producer.old-major", "should", 35,
          "For max_version (0, 8) the result is a capsule named dltensor, or a BufferError.",
          ARRAY_API + "__dlpack__, notes"),
    _rule("producer.version", "must", 4,
          "The struct says the version of its layout: major version 1.",
          HEADER + "DLPackVersion"),
    _rule("producer.keywords", "should", 33,
          "__dlpack__() takes stream=None, max_version=None, dl_device=None and copy=None.",
          ARRAY_API + "__dlpack__"),
    _rule("producer.unknown-keyword", "should", 36,
          "An unknown keyword is a TypeError, so that a newer consumer can ask again without it.",
          ARRAY_API + "__dlpack__"),
    _rule("producer.flags", "must", 5,
          "Flags are 0 for a plain array that is neither read-only nor a copy.",
          HEADER + "DLManagedTensorVersioned.flags"),
    _rule("producer.read-only", "must", 43,
          "A read-only array has the flag READ_ONLY in a versioned capsule.",
          HEADER + "DLPACK_FLAG_BITMASK_READ_ONLY"),
    _rule("producer.read-only-legacy", "should", 34,
          "A read-only array is not exported in a legacy capsule, which can't say so.",
          HEADER + "DLPACK_FLAG_BITMASK_READ_ONLY"),
    _rule("producer.copied-flag", "must", 40,
          "A copy that the producer made has the flag IS_COPIED.",
          PYTHON + "Semantics"),
    _rule("producer.copy-true", "must", 37,
          "copy=True copies.",
          ARRAY_API + "__dlpack__, copy"),
    _rule("producer.copy-false", "must", 38,
          "copy=False shares the memory, or is a BufferError.",
          ARRAY_API + "__dlpack__, copy"),
    _rule("producer.dl-device", "must", 41,
          "dl_device (1, 0) is served for an array on the CPU.",
          ARRAY_API + "__dlpack__, dl_device"),
    _rule("producer.other-device", "must", 41,
          "A device that can't be served is a BufferError.",
          ARRAY_API + "__dlpack__, dl_device"),
    _rule("producer.type", "must", 16,
          "The type's code, bits and lanes and the elements' bytes are those of the array.",
          HEADER + "DLDataType"),
    _rule("producer.byte-order", "must", 15,
          "Elements in the other byte order are refused.",
          HEADER + "DLDataType"),
    _rule("producer.unsupported", "should", 44,
          "An array that DLPack can't describe is a BufferError.",
          ARRAY_API + "__dlpack__, raises"),
    _rule("producer.elements", "must", 8,
          """Data, byte_offset, shape and strides lead to the array's elements, also for views that
          are transposed, sliced, stepped, reversed or broadcast.""",
          HEADER + "DLTensor"),
    _rule("producer.strides", "must", 11,
          "Since version 1.2 strides are not NULL where there are dimensions.",
          HEADER + "DLTensor.strides"),
    _rule("producer.scalar", "must", 12,
          "An array without dimensions has ndim 0 and its element at data + byte_offset.",
          HEADER + "DLTensor"),
    _rule("producer.empty", "should", 10,
          "Without elements, data is NULL.",
          HEADER + "DLTensor.data"),
    _rule("producer.unused", "must", 27,
          "The destructor of a capsule that nobody consumed frees the memory.",
          PYTHON + "Implementation"),
    _rule("producer.used", "must", 23,
          "The destructor of a consumed capsule frees nothing; the deleter does.",
          PYTHON + "Implementation"),
    _rule("producer.deleter", "must", 7,
          "The deleter frees the memory, called on any thread, with or without the GIL.",
          PYTHON + "Implementation"),
    _rule("producer.lifetime", "must", 27,
          "The memory outlives the array until the deleter is called.",
          HEADER + "DLManagedTensor"),
    _rule("producer.repeated", "must", 27,
          "Every capsule has a struct of its own: the deleter of one leaves the others valid.",
          HEADER + "DLManagedTensor"),
    _rule("consumer.accepts", "must", 1,
          "A plain array is taken in, and has the elements that its producer gave.",
          ARRAY_API + "from_dlpack"),
    _rule("consumer.asks", "should", 36,
          "__dlpack__() is called with max_version (1, 0) or later, and without stream on the CPU.",
          ARRAY_API + "__dlpack__, max_version"),
    _rule("consumer.old-producer", "should", 36,
          "A producer whose __dlpack__() takes no keyword but stream is asked again without them.",
          ARRAY_API + "__dlpack__, notes"),
    _rule("consumer.renames", "must", 22,
          "A consumed capsule is renamed to used_dltensor or used_dltensor_versioned.",
          PYTHON + "Implementation"),
    _rule("consumer.used-capsule", "must", 26,
          "A capsule that was consumed is refused.",
          PYTHON + "Implementation"),
    _rule("consumer.deletes", "must", 27,
          "The deleter is called once, after the last view of the memory died.",
          PYTHON + "Implementation"),
    _rule("consumer.null-deleter", "must", 7,
          "A deleter that is NULL is not called.",
          HEADER + "DLManagedTensor.deleter"),
    _rule("consumer.null-context", "must", None,
          "The deleter is called for a manager_ctx that is NULL, too.",
          HEADER + "DLManagedTensor.manager_ctx"),
    _rule("consumer.refuses-cleanly", "must", 30,
          "A refused tensor is left to its capsule, or its deleter is called once.",
          PYTHON + "Implementation"),
    _rule("consumer.major", "must", 2,
          "A struct of another major version is refused.",
          HEADER + "DLPackVersion"),
    _rule("consumer.minor", "must", 3,
          "A struct of a later minor version is taken in if every field of it is known.",
          HEADER + "DLPackVersion"),
    _rule("consumer.read-only", "must", 43,
          "A tensor flagged READ_ONLY is refused, copied, or not written to.",
          HEADER + "DLPACK_FLAG_BITMASK_READ_ONLY"),
    _rule("consumer.type", "must", 16,
          "A tensor of a type that the library has is taken in with its elements, or refused.",
          HEADER + "DLDataType"),
    _rule("consumer.unknown-type", "hardening", 19,
          "A type with an unknown code, or widths that it does not have, is refused.",
          NONE),
    _rule("consumer.strides", "must", 14,
          """Strides of any order, steps, negative and zero ones, are followed, or the tensor is
          refused.""",
          HEADER + "DLTensor.strides"),
    _rule("consumer.null-strides", "must", 11,
          "Before version 1.2, strides that are NULL mean row-major.",
          HEADER + "DLTensor.strides"),
    _rule("consumer.unused-strides", "must", 13,
          "The stride of a dimension of size 1 is never looked at.",
          HEADER + "DLTensor.strides"),
    _rule("consumer.byte-offset", "must", 8,
          "The first element is byte_offset bytes behind data, or the tensor is refused.",
          HEADER + "DLTensor.data"),
    _rule("consumer.misaligned", "must", 9,
          "Data at any address are taken in with their elements, or refused.",
          HEADER + "DLTensor.data"),
    _rule("consumer.scalar", "must", 12,
          "A tensor without dimensions is taken in; its shape and strides may be NULL.",
          HEADER + "DLTensor.shape"),
    _rule("consumer.empty", "must", 10,
          "A tensor without elements is taken in, with NULL data or not.",
          HEADER + "DLTensor.data"),
    _rule("consumer.empty-deletes", "must", 31,
          "The deleter of a tensor without elements is called once, too.",
          PYTHON + "Implementation"),
    _rule("consumer.null-data", "hardening", 10,
          "Elements without data are refused.",
          NONE),
    _rule("consumer.impossible", "hardening", None,
          "A negative ndim or size, or a size that overflows, is refused.",
          NONE),
    _rule("consumer.other-device", "should", 19,
          "A tensor on a device that the library does not support is refused.",
          PYTHON + "Semantics"),
    _rule("consumer.writes-nothing", "must", None,
          "Taking a tensor in and reading it writes nothing to its memory.",
          HEADER + "DLPACK_FLAG_BITMASK_READ_ONLY"),
)  # fmt: skip

BY_ID = {rule.id: rule for rule in RULES}


def chosen(ids=None):
    """The rules of these ids in order; all without ids."""
    return [rule for rule in RULES if ids is None or rule.id in ids]
