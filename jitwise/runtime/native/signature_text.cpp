// Signatures in words, for records: one line per token.
#include <cstring>

#include "dispatch_numpy.h"
#include "signature.h"

namespace jitwise::dispatch {

namespace {

std::string dtype_name(int dtype) {
    switch (dtype) {
        case NPY_BOOL: return "bool";
        case NPY_INT8: return "i8";
        case NPY_INT16: return "i16";
        case NPY_INT32: return "i32";
        case NPY_INT64: return "i64";
        case NPY_UINT8: return "u8";
        case NPY_UINT16: return "u16";
        case NPY_UINT32: return "u32";
        case NPY_UINT64: return "u64";
        case NPY_HALF: return "f16";
        case NPY_FLOAT: return "f32";
        case NPY_DOUBLE: return "f64";
        case NPY_CFLOAT: return "c64";
        case NPY_CDOUBLE: return "c128";
        default: return "dtype" + std::to_string(dtype);
    }
}

const char *kind_name(NumberKind kind) {
    static const char *const names[] = {"bool", "int", "float", "complex"};
    return names[static_cast<int>(kind)];
}

// Reads the words in the order in which Signature wrote them.
struct Reader {
    const std::uint64_t *next;
    const std::uint64_t *end;

    std::uint64_t take() { return next < end ? *next++ : 0; }

    std::string content(std::size_t size, std::size_t width) {
        std::string text;
        for (std::size_t i = 0; i < size; i += 8) {
            const std::uint64_t word = take();
            char bytes[8];
            std::memcpy(bytes, &word, 8);
            for (std::size_t k = 0; k < 8 && i + k < size; k += width) {
                std::uint32_t letter = 0;
                std::memcpy(&letter, bytes + k, width);
                text += letter >= 32 && letter < 127 ? static_cast<char>(letter) : '?';
            }
        }
        return text;
    }

    std::string array(std::uint64_t word) {
        const int rank = rank_of(word);
        std::string text = swapped_of(word) ? "array swapped " : "array ";
        text += dtype_name(dtype_of(word)) + "[";
        for (int axis = 0; axis < rank; ++axis)
            text += axis == 0 ? "n" : ", n";
        text += "]";
        if (!is_numeric_dtype(dtype_of(word))) text += " itemsize " + std::to_string(take());
        return text;
    }

    std::string identity(const char *name) {
        char text[64];
        std::snprintf(text, sizeof text, "%s at 0x%llx", name,
                      static_cast<unsigned long long>(take()));
        return text;
    }

    std::string object() {
        std::string text = identity("object");
        take();
        return text;
    }

    std::string token() {
        const std::uint64_t word = take();
        const std::uint64_t rest = word >> 8;
        const std::string count = std::to_string(rest);
        switch (tag_of(word)) {
            case Tag::call:
                return "call " + std::to_string(rest & 0xfffffff) + " positional, " +
                       std::to_string(rest >> 28) + " keyword";
            case Tag::array: return array(word);
            case Tag::number: return kind_name(kind_of(word));
            case Tag::scalar: return "scalar " + dtype_name(dtype_of(word));
            case Tag::none: return "None";
            case Tag::text: {
                const std::size_t width = rest & 0xff;
                return "'" + content((rest >> 8) * width, width) + "'";
            }
            case Tag::bytes: return "b'" + content(rest, 1) + "'";
            case Tag::tuple: return "tuple of " + count;
            case Tag::list: return "list of " + count;
            case Tag::dict: return "dict of " + count;
            case Tag::tuple_key: return "key tuple of " + count;
            case Tag::named_tuple: return identity("named tuple type");
            case Tag::dataclass: return identity("dataclass");
            case Tag::opaque: return identity("any instance of type");
            case Tag::object: return object();
            case Tag::integer_key:
                if (rest != 0) return rest == 3 ? "key True" : "key False";
                return "key " + std::to_string(static_cast<std::int64_t>(take()));
            case Tag::float_key: {
                const std::uint64_t bits = take();
                double value;
                std::memcpy(&value, &bits, sizeof value);
                return "key " + std::to_string(value);
            }
        }
        return "unknown token";
    }
};

}  // namespace

std::vector<std::string> describe(const std::uint64_t *words, std::size_t count) {
    std::vector<std::string> lines;
    Reader reader{words, words + count};
    while (reader.next < reader.end) lines.push_back(reader.token());
    return lines;
}

}  // namespace jitwise::dispatch
