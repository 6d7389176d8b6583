// Examples of the reference: tensors, their types, literals.
#include <cmath>
#include <cstddef>
#include <vector>

#include "example.h"
#include "rondo/rondo.h"

using namespace rondo;  // NOLINT(google-build-using-namespace): as readers have it

int main() {
  example("operator+, operator-, operator*, operator/", [] {
    Tensor rows = constant({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}});
    Tensor offset = constant({10.0f, 20.0f, 30.0f});
    std::cout << rows + offset << "\n";  // the vector is added to each row
    std::cout << 0.5 * rows - rows / 2 << "\n";
    std::cout << constant({7, -7}) / 2 << "\n";  // integers truncate
  });
  example("operator%", [] {
    std::cout << constant({7, -7}) % 3 << "\n";          // the sign of the dividend
    std::cout << mod(constant({7, -7}), 3) << "\n";      // the sign of the divisor
    std::cout << constant({5.5f, -5.5f}) % 2.0 << "\n";  // floats too
  });
  example("operator&, operator|, operator^, operator~", [] {
    Tensor x = constant({0.5f, 1.5f, 2.5f});
    std::cout << ((x > 1) & (x < 2)) << "\n";  // in place of &&
    std::cout << ((x < 1) | (x > 2)) << "\n";
    Tensor bits = constant({0b1100, 0b1010});
    std::cout << (bits & 0b0110) << " " << (bits | 1) << " " << (bits ^ 0b1111) << " " << ~bits
              << "\n";
  });
  example("operator<< (tensor), operator>>", [] {
    std::cout << (constant({1, 3}) << 4) << "\n";
    std::cout << (constant({-16, 16}) >> 2) << "\n";                // keeps the sign
    std::cout << (Tensor(0x80000000u) >> 31) << "\n";               // unsigned: zeros come in
    std::cout << (constant({1, 1}) << constant({31, 32})) << "\n";  // 0 from the width on
  });
  example("operator<, operator<=, operator>, operator>=", [] {
    Tensor x = constant({1.0f, 2.0f, 3.0f});
    std::cout << (x < 2) << " " << (x <= 2) << "\n";
    std::cout << (x > constant({3.0f, 2.0f, 1.0f})) << "\n";
    std::cout << sum(x >= 2) << " of them are at least 2\n";
  });
  example("operator==, operator!=", [] {
    Tensor x = constant({0.0f, -0.0f, NAN});
    std::cout << (x == 0) << "\n";
    std::cout << (x != x) << "\n";  // only NaN differs from itself
    std::cout << all(constant({1, 2}) == constant({1, 2})) << "\n";
  });
  example("operator!", [] {
    Tensor done = constant({true, false});
    std::cout << !done << "\n";
  });

  example("s8, s16, s32, s64, u8, u16, u32, u64", [] {
    std::cout << s32({2, 3}) << " " << u8() << "\n";
    std::cout << s64({1000}).bytes() << " bytes\n";
    std::cout << convert(constant({127, 128}), s8().dtype) << "\n";  // the low 8 bits
    std::cout << full(s16({2}), -1) << " " << zeros(u16({1})) << " " << ones(u32({1})) << " "
              << iota(u64({3}), 0) << "\n";
  });
  example("f16, bf16, f32, f64, pred, c64, c128", [] {
    const Function program =
        trace([](Tensor x, Tensor p) { return where(p, x, -x); }, f32({2, 3}), pred({3}));
    std::cout << program.params()[0] << " " << program.params()[1] << " to "
              << program.results()[0];
    std::cout << "\n" << full(f16({1}), 1.0) / 3 << " " << full(bf16({1}), 1.0) / 3 << " ";
    std::cout << full(f64({1}), 1.0) / 3 << "\n";
    std::cout << zeros(c64({2})) << " " << ones(c128()) << "\n";
  });
  example("s2, u2, s4, u4", [] {
    std::cout << convert(constant({-2, 1, 2}), s2().dtype) << "\n";  // 2 wraps
    std::cout << convert(constant({3, 4}), u2().dtype) << "\n";
    Tensor weights = convert(constant({-8, 7}), s4().dtype);
    std::cout << weights << " " << convert(weights, DType::kF32) * 0.5 << "\n";
    std::cout << u4({2, 3}).bytes() << " bytes\n";
  });
  example("f4e2m1fn, f8e3m4, f8e4m3, f8e4m3fn, f8e4m3b11fnuz, f8e4m3fnuz, f8e5m2, f8e5m2fnuz", [] {
    Tensor x = constant({0.3f, 17.0f, 1000.0f});
    for (const TensorType& type : {f4e2m1fn(), f8e3m4(), f8e4m3(), f8e4m3fn(), f8e4m3b11fnuz(),
                                   f8e4m3fnuz(), f8e5m2(), f8e5m2fnuz()})
      std::cout << convert(x, type.dtype) << "\n";
  });
  example("operator<< (types)", [] {
    Tensor x = zeros(f32({2, 3}));
    std::cout << x.type() << " " << x.shape() << " " << x.dtype() << "\n";
  });
  example("dtype_name, byte_width, bit_width", [] {
    for (DType dtype : {DType::kBF16, DType::kC64, DType::kS4})
      std::cout << dtype_name(dtype) << ": " << byte_width(dtype) << " bytes, " << bit_width(dtype)
                << " bits\n";
  });
  example(
      "is_pred, is_integer, is_signed_integer, is_unsigned_integer, is_floating, is_complex, "
      "is_small",
      [] {
        auto kind = [](DType dtype) {
          return is_pred(dtype)               ? "truth values"
                 : is_unsigned_integer(dtype) ? "unsigned integers"
                 : is_signed_integer(dtype)   ? "signed integers"
                 : is_complex(dtype)          ? "complex numbers"
                                              : "floats";
        };
        std::cout << kind(dtype_of<std::size_t>) << ", " << kind(DType::kPred) << "\n";
        std::cout << std::boolalpha << "s4: an integer " << is_integer(DType::kS4) << ", small "
                  << is_small(DType::kS4) << "\nbf16: a float " << is_floating(DType::kBF16)
                  << ", small " << is_small(DType::kBF16) << "\n";
      });

  example("operator<< (literal)", [] {
    Literal x = Literal::from(std::vector<float>{1, 2.5f}, {2});
    std::cout << x << "\n";
    x.mutable_data<float>()[0] = 7;
    std::cout << x << " has " << x.elements() << " elements\n";
    std::cout << arange(1000).eval() << "\n";  // shortened
  });
  example("release_cached_memory", [] {
    Literal large = Literal::zeros(f32({1 << 22}));  // 16 MiB
    large = {};
    release_cached_memory();  // otherwise kept for the next large array
    std::cout << large << "\n";
  });
}
