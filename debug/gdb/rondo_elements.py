"""Elements of arrays as text, by their dtypes. Knows nothing of gdb."""
import collections
import math
import struct

# In the order of the enumeration rondo::DType.
DTYPES = ("pred", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "c64", "c128",
          "s2", "u2", "s4", "u4", "f4e2m1fn", "f8e3m4", "f8e4m3", "f8e4m3fn", "f8e4m3b11fnuz", "f8e4m3fnuz",
          "f8e5m2", "f8e5m2fnuz")

# How struct reads the numbers that an element is stored as. Integers of 2 and 4 bits have a byte each.
STORED = {"pred": "B", "s8": "b", "s16": "h", "s32": "i", "s64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
          "f16": "e", "bf16": "H", "f32": "f", "f64": "d", "c64": "2f", "c128": "2d", "s2": "b", "u2": "B", "s4": "b",
          "u4": "B"}

# Of floats: the bits of the mantissa, and the least exponent of a normal number.
Precision = collections.namedtuple("Precision", "mantissa_bits least_exponent")
F32 = Precision(23, -126)
F64 = Precision(52, -1022)
PRECISIONS = {"f16": Precision(10, -14), "bf16": Precision(7, -126), "f32": F32, "f64": F64, "c64": F32, "c128": F64}

# Of floats in a byte, as small_format in src/base/small_format.h has them.
SmallFormat = collections.namedtuple("SmallFormat", "exponent_bits mantissa_bits bias specials")
SMALL_FORMATS = {"f4e2m1fn": SmallFormat(2, 1, 1, "none"), "f8e3m4": SmallFormat(3, 4, 3, "infinity"),
                 "f8e4m3": SmallFormat(4, 3, 7, "infinity"), "f8e4m3fn": SmallFormat(4, 3, 7, "nan"),
                 "f8e4m3b11fnuz": SmallFormat(4, 3, 11, "one nan"), "f8e4m3fnuz": SmallFormat(4, 3, 8, "one nan"),
                 "f8e5m2": SmallFormat(5, 2, 15, "infinity"), "f8e5m2fnuz": SmallFormat(5, 2, 16, "one nan")}

SHOWN_AT_EACH_END = 3
MOST_SHOWN = 1000  # of an array of many axes, of which each is cut


def small_float(dtype, bits):
    """The number that a byte of a small dtype is."""
    form = SMALL_FORMATS[dtype]
    sign_bit = form.exponent_bits + form.mantissa_bits
    magnitude, negative = bits & ((1 << sign_bit) - 1), bits >> sign_bit & 1
    sign = -1.0 if negative else 1.0
    exponent, mantissa = divmod(magnitude, 1 << form.mantissa_bits)
    if form.specials == "one nan" and negative and magnitude == 0:
        return math.nan
    if form.specials == "nan" and magnitude == (1 << sign_bit) - 1:
        return math.nan
    if form.specials == "infinity" and exponent == (1 << form.exponent_bits) - 1:
        return math.nan if mantissa else sign * math.inf
    if exponent > 0:
        mantissa += 1 << form.mantissa_bits
    return sign * math.ldexp(mantissa, max(exponent, 1) - form.bias - form.mantissa_bits)


def float_text(value, precision):
    """The fewest digits that are nearer to this number than to any other of its format."""
    if value and math.isfinite(value):
        mantissa, exponent = math.frexp(value)
        gap_exponent = max(exponent - 1, precision.least_exponent) - precision.mantissa_bits
        if abs(mantissa) == 0.5 and exponent - 1 > precision.least_exponent:
            gap_exponent -= 1  # a power of two: the numbers below are closer
        half_gap = math.ldexp(0.5, gap_exponent)
        for digits in range(17):
            rounded = float(f"{value:.{digits}e}")
            if abs(rounded - value) < half_gap:
                value = rounded
                break
    text = repr(value)
    return text[:-2] if text.endswith(".0") else text


def element_bytes(dtype):
    return struct.calcsize("<" + STORED.get(dtype, "B"))


def element_text(dtype, data):
    """One element, of its bytes."""
    if dtype in SMALL_FORMATS:
        return float_text(small_float(dtype, data[0]), F32)
    numbers = struct.unpack("<" + STORED[dtype], data)
    if dtype == "pred":
        return "true" if numbers[0] else "false"
    if dtype == "bf16":
        numbers = struct.unpack("<f", struct.pack("<I", numbers[0] << 16))
    if dtype not in PRECISIONS:
        return str(numbers[0])
    texts = [float_text(number, PRECISIONS[dtype]) for number in numbers]
    return texts[0] if len(texts) == 1 else f"({texts[0]}, {texts[1]})"


def elements_text(dtype, data):
    """Consecutive elements, as a list."""
    size = element_bytes(dtype)
    return [element_text(dtype, data[at:at + size]) for at in range(0, len(data), size)]


def shown(count, is_cut):
    """The indices of a list of `count` items of which texts are shown, and None where items are left out."""
    if not is_cut or count <= 2 * SHOWN_AT_EACH_END:
        return list(range(count))
    return [*range(SHOWN_AT_EACH_END), None, *range(count - SHOWN_AT_EACH_END, count)]


class ArrayText:
    """The elements of an array in nested braces, those of more than `limit` elements cut in the middle of each axis.

    `read(first, count)` gives the texts of elements.
    """

    def __init__(self, dims, read, limit):
        self.dims = dims
        self.read = read
        self.is_cut = limit is not None and math.prod(dims) > limit
        self.left = MOST_SHOWN if self.is_cut else math.inf

    def text(self):
        if not self.dims:
            return self.read(0, 1)[0]
        return self.axis(0, 0) if math.prod(self.dims) else "{}"

    def axis(self, axis, first):
        """The part that begins with element `first`."""
        if self.left <= 0:
            return "{...}"
        count = self.dims[axis]
        indices = shown(count, self.is_cut)
        if axis + 1 < len(self.dims):
            step = math.prod(self.dims[axis + 1:])
            texts = ["..." if i is None else self.axis(axis + 1, first + i * step) for i in indices]
        elif None in indices:
            last = first + count - SHOWN_AT_EACH_END
            texts = [*self.read(first, SHOWN_AT_EACH_END), "...", *self.read(last, SHOWN_AT_EACH_END)]
        else:
            texts = self.read(first, count)
        self.left -= len(texts)
        return "{" + ", ".join(texts) + "}"
