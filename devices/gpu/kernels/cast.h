// Casts: a strided copy that changes the element type, in one pass.
//
//   LinearCast<OfFormats<4, 2>, 1>::Run<0>(arguments, block, thread, nullptr);
//
// Who casts one element:
//   OfFormats<S, D>   any type of S bytes to any of D, as the arguments say
//   OfPair<From, To>  one pair of types, known to the compiler
//   OfComplex<P>      a complex type of two parts of P bytes to bool
//   OfTable<D>        a type of one byte, by a table of all 256 results
// LinearCast moves packets of kRun elements that follow each other on both sides. cast_tile.h has
// casts that transpose.

#ifndef DOVETAIL_DEVICES_GPU_KERNELS_CAST_H_
#define DOVETAIL_DEVICES_GPU_KERNELS_CAST_H_

#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/kernels/arguments.h"
#include "dovetail/devices/gpu/kernels/cast_element.h"
#include "dovetail/devices/gpu/kernels/host_device.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// kRun elements, moved by one load or store.
template <typename Element, int kRun>
struct alignas(sizeof(Element) * kRun) Packet {
  Element element[kRun];
};

template <int kFrom, int kTo>
struct OfFormats {
  using Arguments = CastArguments;
  using In = typename UnitOf<kFrom>::Type;
  using Out = typename UnitOf<kTo>::Type;
  static constexpr int kUnits = 4;  // packets per thread
  static constexpr int kPhases = 1;
  static constexpr int kSharedBytes = 0;

  DOVETAIL_HOST_DEVICE static Out Cast(const CastArguments& a, In x, const unsigned char*) {
    return CastElement<kFrom, kTo>(a.formats, x);
  }
};

// From a complex type of two parts of kPart bytes to bool.
template <int kPart>
struct OfComplex {
  using Arguments = CastArguments;
  using In = Packet<typename UnitOf<kPart>::Type, 2>;
  using Out = uint8_t;
  static constexpr int kUnits = 4;
  static constexpr int kPhases = 1;
  static constexpr int kSharedBytes = 0;

  DOVETAIL_HOST_DEVICE static Out Cast(const CastArguments& a, const In& x, const unsigned char*) {
    const bool is_true =
        IsTrue<kPart>(a.formats.from, x.element[0]) || IsTrue<kPart>(a.formats.from, x.element[1]);
    return is_true ? 1 : 0;
  }
};

template <typename From, typename To>
struct OfPair {
  using Arguments = CastArguments;
  using In = BitsOf<From>;
  using Out = BitsOf<To>;
  static constexpr int kUnits = 4;
  static constexpr int kPhases = 1;
  static constexpr int kSharedBytes = 0;
  // Of a packet whose wider side has 16 bytes.
  static constexpr int kRun = 16 / (sizeof(In) > sizeof(Out) ? sizeof(In) : sizeof(Out));

  DOVETAIL_HOST_DEVICE static Out Cast(const CastArguments&, In x, const unsigned char*) {
    return CastNumber<From, To>(x);
  }
};

// A block first copies the table to its shared memory. Each thread casts many packets for that.
template <int kTo>
struct OfTable {
  using Arguments = TableCastArguments;
  using In = uint8_t;
  using Out = typename UnitOf<kTo>::Type;
  static constexpr int kUnits = 8;
  static constexpr int kPhases = 2;
  static constexpr int kSharedBytes = 256 * kTo;
  static constexpr int kRun = 16 / kTo;
  static_assert(kBlockThreads == 256, "A thread copies one entry.");

  DOVETAIL_HOST_DEVICE static void Prepare(const TableCastArguments& a, uint32_t thread,
                                           unsigned char* shared) {
    StoreUnit<Out>(shared + thread * kTo, LoadUnit<Out>(a.table + thread * kTo));
  }
  DOVETAIL_HOST_DEVICE static Out Cast(const TableCastArguments&, In x,
                                       const unsigned char* shared) {
    return LoadUnit<Out>(shared + x * kTo);
  }
};

template <typename Caster, int kElements>
struct LinearCast {
  using Arguments = typename Caster::Arguments;
  static constexpr int kPhases = Caster::kPhases;
  static constexpr int kSharedBytes = Caster::kSharedBytes;
  static constexpr int kRun = kElements;
  static constexpr int kUnitsPerBlock = kBlockThreads * Caster::kUnits;
  using In = Packet<typename Caster::In, kRun>;
  using Out = Packet<typename Caster::Out, kRun>;

  template <int kPhase>
  DOVETAIL_HOST_DEVICE static void Run(const Arguments& a, uint32_t block, uint32_t thread,
                                       unsigned char* shared) {
    if constexpr (kPhase + 1 < kPhases) {
      Caster::Prepare(a, thread, shared);
    } else {
      Cast(a, block * kUnitsPerBlock + thread, shared);
    }
  }

  DOVETAIL_HOST_DEVICE static void Cast(const Arguments& a, uint32_t first,
                                        const unsigned char* shared) {
    In in[Caster::kUnits];
    int64_t dst[Caster::kUnits];
    DOVETAIL_UNROLL
    for (int i = 0; i < Caster::kUnits; ++i) {
      const uint32_t index = first + i * kBlockThreads;
      if (index < a.copy.units) {
        int64_t offset[2];
        a.copy.space.Locate(index, offset);
        dst[i] = offset[0];
        in[i] = LoadUnit<In>(a.copy.src + offset[1]);
      }
    }
    DOVETAIL_UNROLL
    for (int i = 0; i < Caster::kUnits; ++i) {
      if (first + i * kBlockThreads < a.copy.units) {
        Out out;
        DOVETAIL_UNROLL
        for (int j = 0; j < kRun; ++j) {
          out.element[j] = Caster::Cast(a, in[i].element[j], shared);
        }
        StoreUnit<Out>(a.copy.dst + dst[i], out);
      }
    }
  }
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_KERNELS_CAST_H_
