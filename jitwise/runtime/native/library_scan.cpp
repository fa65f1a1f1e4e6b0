// iota, and running sums and products, sequential as NumPy's.
#include <complex>
#include <cstring>

#include "half.h"
#include "library.h"
#include "strided.h"

namespace jitwise {

namespace {

struct Half {
    std::uint16_t bits;
};

struct Sum {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a + b);
    }
    static bool apply(bool a, bool b) { return a || b; }
    static Half apply(Half a, Half b) {
        return {float_to_half(half_to_float(a.bits) + half_to_float(b.bits))};
    }
};
struct Product {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a * b);
    }
    static bool apply(bool a, bool b) { return a && b; }
    static std::uint16_t apply(std::uint16_t a, std::uint16_t b) {
        return static_cast<std::uint16_t>(static_cast<unsigned>(a) * b);
    }
    static Half apply(Half a, Half b) {
        return {float_to_half(half_to_float(a.bits) * half_to_float(b.bits))};
    }
    template <class T>
    static std::complex<T> apply(std::complex<T> a, std::complex<T> b) {
        return {a.real() * b.real() - a.imag() * b.imag(),
                a.real() * b.imag() + a.imag() * b.real()};
    }
};

// Calls visit(offset into out, offset into in) for the first element of every line along `axis`.
template <class Visit>
void for_lines(const View &out, const View *in, int axis, Visit visit) {
    std::int64_t index[max_rank] = {}, to = 0, from = 0;
    if (product(out.shape, out.ndim) == 0) return;
    for (;;) {
        visit(to, from);
        int a = out.ndim - 1;
        for (; a >= 0; --a) {
            if (a == axis) continue;
            to += out.strides[a];
            if (in != nullptr) from += in->strides[a];
            if (++index[a] < out.shape[a]) break;
            to -= index[a] * out.strides[a];
            if (in != nullptr) from -= index[a] * in->strides[a];
            index[a] = 0;
        }
        if (a < 0) return;
    }
}

template <class Op, class T>
void scan_line(char *out, std::int64_t out_stride, const char *in, std::int64_t in_stride,
               std::int64_t count) {
    T running = load<T>(in);
    store(out, running);
    for (std::int64_t i = 1; i < count; ++i) {
        running = Op::apply(running, load<T>(in + i * in_stride));
        store(out + i * out_stride, running);
    }
}

// One step of many lines at once, when the lines lie next to each other.
template <class Op, class T>
void scan_step(char *out, const char *before, const char *in, std::int64_t in_stride,
               std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
        store(out + i * sizeof(T),
              Op::apply(load<T>(before + i * sizeof(T)), load<T>(in + i * in_stride)));
}

template <class Op, class T>
void scan_typed(const View &out, const View &in, int axis, bool reverse) {
    const std::int64_t count = out.shape[axis];
    std::int64_t to = out.strides[axis], from = in.strides[axis], to_first = 0, from_first = 0;
    if (reverse) {
        to_first = (count - 1) * to;
        from_first = (count - 1) * from;
        to = -to;
        from = -from;
    }
    const int last = out.ndim - 1;
    if (out.ndim == 2 && axis == 0 && out.strides[last] == sizeof(T) && out.shape[last] > 4 &&
        count > 0) {
        char *row = out.data + to_first;
        const char *source = in.data + from_first;
        copy_run(row, sizeof(T), source, in.strides[last], out.shape[last], sizeof(T));
        for (std::int64_t i = 1; i < count; ++i, row += to)
            scan_step<Op, T>(row + to, row, source + i * from, in.strides[last], out.shape[last]);
        return;
    }
    for_lines(out, &in, axis, [&](std::int64_t a, std::int64_t b) {
        scan_line<Op, T>(out.data + to_first + a, to, in.data + from_first + b, from, count);
    });
}

template <class Op>
void scan(Frame &frame, const Instruction &instruction) {
    LibraryCall call(frame, instruction);
    const View &out = call.out(0).view, &in = call.in(0).view;
    const int axis = call.attr(0);
    const bool reverse = call.attr(1) != 0;
    for (int a = 0; a < out.ndim; ++a)
        if (out.shape[a] != in.shape[a]) throw std::logic_error("a running sum of another shape");
    if (product(out.shape, out.ndim) > 10000) frame.release_gil();
    switch (call.out(0).type) {
    case ElementType::boolean: return scan_typed<Op, bool>(out, in, axis, reverse);
    case ElementType::i8: return scan_typed<Op, std::int8_t>(out, in, axis, reverse);
    case ElementType::i16: return scan_typed<Op, std::int16_t>(out, in, axis, reverse);
    case ElementType::i32: return scan_typed<Op, std::int32_t>(out, in, axis, reverse);
    case ElementType::i64: return scan_typed<Op, std::int64_t>(out, in, axis, reverse);
    case ElementType::u8: return scan_typed<Op, std::uint8_t>(out, in, axis, reverse);
    case ElementType::u16: return scan_typed<Op, std::uint16_t>(out, in, axis, reverse);
    case ElementType::u32: return scan_typed<Op, std::uint32_t>(out, in, axis, reverse);
    case ElementType::u64: return scan_typed<Op, std::uint64_t>(out, in, axis, reverse);
    case ElementType::f16: return scan_typed<Op, Half>(out, in, axis, reverse);
    case ElementType::f32: return scan_typed<Op, float>(out, in, axis, reverse);
    case ElementType::f64: return scan_typed<Op, double>(out, in, axis, reverse);
    case ElementType::c64: return scan_typed<Op, std::complex<float>>(out, in, axis, reverse);
    case ElementType::c128: return scan_typed<Op, std::complex<double>>(out, in, axis, reverse);
    default: return;
    }
}

template <class T>
void iota_line(char *out, std::int64_t stride, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) store(out + i * stride, static_cast<T>(i));
}

void iota_half(char *out, std::int64_t stride, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
        store(out + i * stride, float_to_half(static_cast<float>(i)));
}

void iota_boolean(char *out, std::int64_t stride, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) store(out + i * stride, i != 0);
}

using Fill = void (*)(char *, std::int64_t, std::int64_t);

Fill fill_of(ElementType type) {
    switch (type) {
    case ElementType::boolean: return iota_boolean;
    case ElementType::i8:
    case ElementType::u8: return iota_line<std::uint8_t>;
    case ElementType::i16:
    case ElementType::u16: return iota_line<std::uint16_t>;
    case ElementType::i32:
    case ElementType::u32: return iota_line<std::uint32_t>;
    case ElementType::i64:
    case ElementType::u64: return iota_line<std::uint64_t>;
    case ElementType::f16: return iota_half;
    case ElementType::f32: return iota_line<float>;
    case ElementType::f64: return iota_line<double>;
    case ElementType::c64: return iota_line<std::complex<float>>;
    default: return iota_line<std::complex<double>>;
    }
}

}  // namespace

void library_iota(Frame &frame, const Instruction &instruction) {
    LibraryCall call(frame, instruction);
    const Slot &slot = call.out(0);
    const View &out = slot.view;
    const int axis = call.attr(0);
    const Fill fill = fill_of(slot.type);
    if (product(out.shape, out.ndim) > 20000) frame.release_gil();
    for_lines(out, nullptr, axis, [&](std::int64_t to, std::int64_t) {
        fill(out.data + to, out.strides[axis], out.shape[axis]);
    });
}

void library_cumsum(Frame &frame, const Instruction &instruction) { scan<Sum>(frame, instruction); }
void library_cumprod(Frame &frame, const Instruction &instruction) {
    scan<Product>(frame, instruction);
}

}  // namespace jitwise
