// Programs from tuples. Everything that can be checked without running is checked here: slots are
// defined before use with the ranks and types their users expect, dims exist, views refer to axes
// that exist.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>

#include "frame.h"
#include "kernel_object.h"
#include "library.h"

namespace nb = nanobind;

namespace jitwise {

namespace {

[[noreturn]] void reject(const std::string &message) { throw nb::value_error(message.c_str()); }

ElementType type_of(nb::handle name) {
    ElementType type = element_type_named(nb::cast<std::string>(name).c_str());
    if (type == ElementType::none) reject("no dtype " + nb::cast<std::string>(name));
    return type;
}

struct Defined {
    bool is = false;
    ElementType type = ElementType::none;
    int ndim = 0;
    bool is_allocated = false;  // by the program, for nothing else
    int copied = -1;  // the copy that filled it, if nothing has touched it since
};

class Parser {
public:
    // `stages`: when each dim is known, counted in measurements.
    Parser(ProgramObject &program, int slots, int count, std::vector<int> stages)
        : program_(program), defined_(slots), stages_(std::move(stages)), count_(count) {
        program.slot_ranks.assign(slots, 0);
    }

    void define(int slot, ElementType type, int ndim) {
        check_slot(slot);
        if (ndim < 0 || ndim > max_rank) reject("a rank is 0..64");
        defined_[slot] = {true, type, ndim, false, -1};
        program_.slot_ranks[slot] = std::max(program_.slot_ranks[slot], ndim);
    }
    const Defined &use(int slot) {
        Defined &found = defined(slot);
        if (found.copied >= 0) program_.instructions[found.copied].is_final = false;
        found.copied = -1;
        return found;
    }
    Defined &defined(int slot) {
        check_slot(slot);
        if (!defined_[slot].is)
            reject("slot " + std::to_string(slot) + " is used before it is defined");
        return defined_[slot];
    }
    bool is_output(int slot) const {
        for (int output : program_.outputs)
            if (output == slot) return true;
        return false;
    }
    void parse(nb::handle tuple);

private:
    void check_slot(int slot) const {
        if (slot < 0 || slot >= static_cast<int>(defined_.size()))
            reject("no slot " + std::to_string(slot));
    }
    int word(nb::handle item) {
        program_.words.push_back(nb::cast<int>(item));
        return program_.words.back();
    }
    int axis(nb::handle item, int ndim, int least) {
        int value = word(item);
        if (value < least || value >= ndim) reject("an axis outside the array");
        return value;
    }
    void dim(nb::handle item) {
        int value = word(item);
        if (value < 0 || value >= static_cast<int>(program_.dims.count())) reject("no such dim");
        if (stages_[value] > stage_) reject("a dim is used before it is measured");
    }
    int dims(nb::handle list) {
        int count = 0;
        for (nb::handle item : list) dim(item), ++count;
        return count;
    }
    void parse_alloc(Instruction &now, nb::handle tuple);
    void parse_kernel(Instruction &now, nb::handle tuple);
    void parse_region(Instruction &now, nb::handle tuple);
    void parse_scalar(Instruction &now, nb::handle tuple);
    void parse_view(Instruction &now, nb::handle tuple);
    void parse_copy(Instruction &now, nb::handle tuple);
    bool check_mask(const std::string &name, const Instruction &now,
                    const std::vector<Defined> &operands);
    void parse_library(Instruction &now, nb::handle tuple);
    void check_positions(const Instruction &now, const std::string &name,
                         const std::vector<Defined> &operands, int dim_words);
    void check_product(const Instruction &now, const std::vector<Defined> &operands, int dim_words);
    void parse_host(Instruction &now, nb::handle tuple);
    int sizes(nb::handle list, std::vector<int> &own);
    void parse_measure(Instruction &now, nb::handle tuple);
    void parse_jump(Instruction &now, nb::handle tuple);
    void parse_move(Instruction &now, nb::handle tuple);

    ProgramObject &program_;
    std::vector<Defined> defined_;
    std::vector<int> stages_;
    int count_;  // of instructions
    int stage_ = 0;
};

Opcode opcode_named(const std::string &name) {
    static const char *const names[] = {"alloc",     "free",    "kernel",    "scalar",  "dimension",
                                        "transpose", "slice",   "broadcast", "reshape", "reverse",
                                        "copy",      "library", "host",      "check",
                                        "measure",   "jump",    "jump_unless", "move",
                                        "region"};
    for (int i = 0; i < 19; ++i)
        if (name == names[i]) return static_cast<Opcode>(i);
    reject("no instruction " + name);
}

void Parser::parse_alloc(Instruction &now, nb::handle tuple) {
    now.slot = nb::cast<int>(tuple[1]);
    now.type = type_of(tuple[2]);
    now.ndim = dims(tuple[3]);
    define(now.slot, now.type, now.ndim);
    if (now.slot < static_cast<int>(program_.inputs.size())) reject("an input is not allocated");
    defined_[now.slot].is_allocated = true;
    now.is_output = is_output(now.slot);
}

void Parser::parse_kernel(Instruction &now, nb::handle tuple) {
    const KernelObject *kernel = nb::cast<const KernelObject *>(tuple[1]);
    if (kernel == nullptr) reject("no kernel");
    now.kernel = kernel;
    program_.references.attr("append")(tuple[1]);
    int position = 0;
    for (int list : {2, 3})
        for (nb::handle item : nb::object(tuple[list])) {
            const Defined &slot = use(word(item));
            if (position >= kernel->operand_count())
                reject("too many operands for kernel " + kernel->name);
            const OperandSpec &spec = kernel->operands[position];
            if (size_of(slot.type) != spec.itemsize)
                reject("operand " + std::to_string(position) + " of kernel " + kernel->name +
                       " has another itemsize");
            if (spec.role == Role::scalar && slot.ndim != 0) reject("a scalar operand has rank 0");
            ++(list == 2 ? now.in_count : now.out_count);
            ++position;
        }
    if (now.in_count != kernel->input_count || now.out_count != kernel->output_count)
        reject("too few operands for kernel " + kernel->name);
    now.ndim = dims(tuple[4]);
    int outer = word(tuple[5]);
    if (outer < 0 || outer > now.ndim || now.ndim > max_rank)
        reject("bad iteration space of kernel " + kernel->name);
    now.keeps_order = nb::len(tuple) > 6 && nb::cast<bool>(tuple[6]);
    if (now.keeps_order && kernel->mode != Mode::map && outer > 0)
        reject("results of kernel " + kernel->name + " have an order of their own");
    for (nb::handle item : nb::object(tuple[3]))
        if (now.keeps_order && !defined_[nb::cast<int>(item)].is_allocated)
            reject("a result of kernel " + kernel->name + " is not the program's to arrange");
}

// ("region", address, owner, in slots, out slots, dims)
void Parser::parse_region(Instruction &now, nb::handle tuple) {
    now.region = reinterpret_cast<Region>(nb::cast<std::uintptr_t>(tuple[1]));
    if (now.region == nullptr) reject("no region");
    program_.references.attr("append")(tuple[2]);
    for (nb::handle item : nb::object(tuple[3])) {
        now.ndim += use(word(item)).ndim;
        ++now.in_count;
    }
    for (nb::handle item : nb::object(tuple[4])) use(word(item)), ++now.out_count;
    now.word_count = dims(tuple[5]);
}

void Parser::parse_scalar(Instruction &now, nb::handle tuple) {
    now.slot = nb::cast<int>(tuple[1]);
    now.type = type_of(tuple[2]);
    nb::bytes bytes = nb::cast<nb::bytes>(tuple[3]);
    if (static_cast<int>(bytes.size()) != size_of(now.type)) reject("a scalar of another size");
    now.constant = static_cast<std::int64_t>(program_.constants.size());
    Constant constant = {};
    std::memcpy(constant.bytes, bytes.data(), bytes.size());
    program_.constants.push_back(constant);
    define(now.slot, now.type, 0);
}

void Parser::parse_view(Instruction &now, nb::handle tuple) {
    now.slot = nb::cast<int>(tuple[1]);
    now.source = nb::cast<int>(tuple[2]);
    if (now.slot == now.source) reject("a view has a slot of its own");
    const Defined from = use(now.source);
    switch (now.op) {
    case Opcode::transpose:
        for (nb::handle item : nb::object(tuple[3])) axis(item, from.ndim, 0), ++now.ndim;
        if (now.ndim != from.ndim) reject("a transposition names every axis");
        break;
    case Opcode::slice:
        now.ndim = from.ndim;
        if (dims(tuple[3]) != now.ndim) reject("a slice names every axis");
        for (nb::handle item : nb::object(tuple[4])) word(item), ++now.word_count;
        if (now.word_count != now.ndim || dims(tuple[5]) != now.ndim)
            reject("a slice names every axis");
        break;
    case Opcode::broadcast:
        for (nb::handle item : nb::object(tuple[3])) axis(item, from.ndim, -1), ++now.ndim;
        if (dims(tuple[4]) != now.ndim) reject("a broadcast gives every size");
        break;
    case Opcode::reshape:
        now.ndim = dims(tuple[3]);
        now.is_output = is_output(now.slot);
        break;
    default:
        now.ndim = from.ndim;
        for (nb::handle item : nb::object(tuple[3])) axis(item, from.ndim, 0), ++now.word_count;
    }
    define(now.slot, from.type, now.ndim);
}

void Parser::parse_copy(Instruction &now, nb::handle tuple) {
    now.slot = nb::cast<int>(tuple[1]);
    now.source = nb::cast<int>(tuple[2]);
    const Defined &to = use(now.slot), &from = use(now.source);
    if (size_of(to.type) != size_of(from.type) || to.ndim != from.ndim)
        reject("a copy keeps dtype and rank");
    now.keeps_order = nb::len(tuple) > 3 && nb::cast<bool>(tuple[3]);
    if (now.keeps_order && !to.is_allocated) reject("a copy is not the program's to arrange");
    now.is_final = is_output(now.slot) && to.is_allocated;
    if (now.is_final)
        defined_[now.slot].copied = static_cast<int>(program_.instructions.size());
}

// Whether it is a function of masks; refuses operands that it does not take.
bool Parser::check_mask(const std::string &name, const Instruction &now,
                        const std::vector<Defined> &operands) {
    const bool count = name == "count", places = name == "places", compress = name == "compress";
    if (!count && !places && !compress && name != "place") return false;
    const Defined &mask = operands[compress ? 1 : 0];
    bool fits = now.in_count == (count || places ? 1 : 2) && mask.type == ElementType::boolean;
    if (count) {
        fits = fits && now.out_count == 1 && operands[1].type == ElementType::i64 &&
               operands[1].ndim == 0;
    } else if (places) {
        fits = fits && now.out_count == mask.ndim && mask.ndim > 0;
        for (int i = 1; fits && i <= now.out_count; ++i)
            fits = operands[i].type == ElementType::i64 && operands[i].ndim == 1;
    } else {
        const Defined &in = operands[compress ? 0 : 1], &out = operands[2];
        const int axis = now.word_count == 1 ? program_.words.back() : -1;
        fits = fits && now.out_count == 1 && mask.ndim == 1 && in.type == out.type &&
               in.ndim == out.ndim && axis >= 0 && axis < out.ndim;
    }
    if (!fits) reject("wrong operands of " + name);
    return true;
}

void Parser::parse_library(Instruction &now, nb::handle tuple) {
    const std::string name = nb::cast<std::string>(tuple[1]);
    now.library = library_named(name.c_str());
    if (now.library == nullptr) reject("no library instruction " + name);
    std::vector<Defined> operands;
    for (nb::handle item : nb::object(tuple[2]))
        operands.push_back(use(word(item))), ++now.in_count;
    for (nb::handle item : nb::object(tuple[3]))
        operands.push_back(use(word(item))), ++now.out_count;
    for (nb::handle item : nb::object(tuple[4])) word(item), ++now.word_count;
    if (check_mask(name, now, operands)) return;
    const int dim_words = nb::len(tuple) > 5 ? dims(tuple[5]) : 0;
    if (name == "gather" || name == "scatter" || name == "scatter_at")
        return check_positions(now, name, operands, dim_words);
    if (name == "product") return check_product(now, operands, dim_words);
    const bool scan = name == "cumsum" || name == "cumprod", iota = name == "iota";
    const int inputs = iota ? 0 : scan ? 1 : 2, attrs = iota ? 1 : scan ? 2 : 0;
    if (now.in_count != inputs || now.out_count != 1 || now.word_count < attrs)
        reject("wrong operands of " + name);
    const Defined &out = operands.back();
    for (const Defined &operand : operands)
        if (operand.type != out.type || operand.ndim != out.ndim)
            reject("operands of " + name + " differ in dtype or rank");
    if (attrs > 0) {
        int axis = program_.words[program_.words.size() - now.word_count - dim_words];
        if (axis < 0 || axis >= out.ndim) reject("an axis outside the array");
    } else if (out.ndim < 2) {
        reject("a matrix product has rank 2 or more");
    } else if (!has_blas(out.type)) {
        reject("no BLAS is set: a matrix product of this dtype is a host call");
    }
}

// An array, perhaps a number to begin with, and the array without the axes that are named.
void Parser::check_product(const Instruction &now, const std::vector<Defined> &operands,
                           int dim_words) {
    const Defined &in = operands.front(), &out = operands.back();
    bool fits = (now.in_count == 1 || now.in_count == 2) && now.out_count == 1 &&
                in.ndim == out.ndim + now.word_count &&
                (out.type == ElementType::f32 || out.type == ElementType::f64);
    for (const Defined &operand : operands) fits = fits && operand.type == out.type;
    if (now.in_count == 2) fits = fits && operands[1].ndim == 0;
    const std::size_t attrs =
        program_.words.size() - static_cast<std::size_t>(now.word_count + dim_words);
    for (int i = 0, before = -1; fits && i < now.word_count; ++i) {
        const int axis = program_.words[attrs + static_cast<std::size_t>(i)];
        fits = axis > before && axis < in.ndim;
        before = axis;
    }
    if (!fits) reject("wrong operands of product");
}

// An array, what is taken of it or put into it, and positions along some of its axes.
void Parser::check_positions(const Instruction &now, const std::string &name,
                             const std::vector<Defined> &operands, int dim_words) {
    const int first = name == "scatter_at" ? 1 : 0, indexed = now.in_count - 1;
    if (indexed < 1 || now.out_count != 1 || now.word_count - first != indexed)
        reject("wrong operands of " + name);
    const Defined &whole = name == "gather" ? operands.front() : operands.back();
    const Defined &part = name == "gather" ? operands.back() : operands.front();
    const int ndim = operands[1].ndim;
    for (int i = 0; i < indexed; ++i) {
        const Defined &positions = operands[1 + static_cast<std::size_t>(i)];
        if (positions.type != ElementType::i64 || positions.ndim != ndim)
            reject("positions are i64 of one rank");
    }
    const std::size_t attrs =
        program_.words.size() - static_cast<std::size_t>(now.word_count + dim_words);
    for (int i = 0, before = -1; i < indexed; ++i) {
        const int axis = program_.words[attrs + static_cast<std::size_t>(first + i)];
        if (axis <= before || axis >= whole.ndim) reject("an axis outside the array");
        before = axis;
    }
    if (whole.type != part.type || part.ndim != whole.ndim - indexed + ndim)
        reject("operands of " + name + " differ in dtype or rank");
}

// ("host", callable, in slots, results[, more, names, quiet]); the latter of a direct call.
void Parser::parse_host(Instruction &now, nb::handle tuple) {
    HostCall host = {nb::object(tuple[1]).ptr(), nullptr, nullptr};
    if (!PyCallable_Check(host.callable)) reject("a host call needs something callable");
    program_.references.attr("append")(tuple[1]);
    now.is_direct = nb::len(tuple) > 4;
    for (nb::handle item : nb::object(tuple[2])) use(word(item)), ++now.in_count;
    if (now.is_direct) {
        nb::tuple more = nb::cast<nb::tuple>(tuple[4]), names = nb::cast<nb::tuple>(tuple[5]);
        if (nb::len(names) > nb::len(more)) reject("a name without an argument");
        program_.references.attr("append")(more);
        program_.references.attr("append")(names);
        host.more = more.ptr();
        if (nb::len(names) > 0) host.names = names.ptr();
        now.is_quiet = nb::cast<bool>(tuple[6]);
    }
    program_.host_calls.push_back(host);
    now.host = &program_.host_calls.back();
    std::vector<int> own;
    for (nb::handle item : nb::object(tuple[3])) {
        int slot = word(item[0]);
        ElementType type = type_of(item[1]);
        program_.words.push_back(static_cast<int>(type));
        int ndim = word(item[2]);
        if (now.is_direct && sizes(item[3], own) != ndim)
            reject("a direct call has a size for each axis");
        define(slot, type, ndim);
        ++now.out_count;
    }
}

// Sizes of a direct call's result: dims, those in `own`, or a symbol that it tells first: -1 - dim.
int Parser::sizes(nb::handle list, std::vector<int> &own) {
    int count = 0;
    for (nb::handle item : list) {
        const int symbol = -1 - nb::cast<int>(item);
        if (std::find(own.begin(), own.end(), -1 - symbol) != own.end()) {
            word(item);
        } else if (symbol < 0) {
            dim(item);
        } else {
            word(item);
            if (symbol >= static_cast<int>(program_.dims.symbols.size()) ||
                program_.dims.symbols[symbol].input >= 0)
                reject("only a symbol is measured");
            own.push_back(symbol);
        }
        ++count;
    }
    return count;
}

void Parser::parse_measure(Instruction &now, nb::handle tuple) {
    const int symbol = word(tuple[1]), ranks = use(nb::cast<int>(tuple[2])).ndim;
    now.source = nb::cast<int>(tuple[2]);
    if (symbol < 0 || symbol >= static_cast<int>(program_.dims.symbols.size()) ||
        program_.dims.symbols[symbol].input >= 0)
        reject("only a symbol is measured");
    const int axis = word(tuple[3]);
    if (axis < 0 ? ranks != 0 || use(now.source).type != ElementType::i64 : axis >= ranks)
        reject("an i64 of rank 0 is measured, or an axis of an array");
    program_.words.push_back(++stage_);
}

// ("jump", target), ("jump_unless", target, slot), ("jump_unless", target, slot, value): unless it is
// true, or this int. What is defined behind a jump is defined on every way there, which is the
// builder's to see to.
void Parser::parse_jump(Instruction &now, nb::handle tuple) {
    now.at = nb::cast<int>(tuple[1]);
    if (now.at < 0 || now.at > count_) reject("a jump leaves the program");
    if (now.op == Opcode::jump) return;
    now.source = nb::cast<int>(tuple[2]);
    const bool compares = nb::len(tuple) > 3;
    const ElementType wanted = compares ? ElementType::i64 : ElementType::boolean;
    if (use(now.source).type != wanted || use(now.source).ndim != 0)
        reject("a jump depends on a bool, or on an i64 and its value");
    now.type = wanted;
    now.constant = compares ? nb::cast<std::int64_t>(tuple[3]) : 0;
}

// ("move", to, from): `to` is what `from` was; a single value is copied.
void Parser::parse_move(Instruction &now, nb::handle tuple) {
    now.slot = nb::cast<int>(tuple[1]);
    now.source = nb::cast<int>(tuple[2]);
    const Defined from = use(now.source);
    now.type = from.type;
    now.ndim = from.ndim;
    define(now.slot, from.type, from.ndim);
    if (from.ndim > 0) defined_[now.source].is = false;
    if (now.slot < static_cast<int>(program_.inputs.size())) reject("nothing moves to an input");
}

void Parser::parse(nb::handle tuple) {
    Instruction now;
    now.op = opcode_named(nb::cast<std::string>(tuple[0]));
    now.at = static_cast<int>(program_.words.size());
    switch (now.op) {
    case Opcode::alloc: parse_alloc(now, tuple); break;
    case Opcode::free:
        now.slot = nb::cast<int>(tuple[1]);
        use(now.slot);
        defined_[now.slot].is = false;
        if (is_output(now.slot)) reject("an output is not freed");
        break;
    case Opcode::kernel: parse_kernel(now, tuple); break;
    case Opcode::region: parse_region(now, tuple); break;
    case Opcode::scalar: parse_scalar(now, tuple); break;
    case Opcode::dimension:
        now.slot = nb::cast<int>(tuple[1]);
        now.type = ElementType::i64;
        dim(tuple[2]);
        now.source = program_.words.back();
        define(now.slot, now.type, 0);
        break;
    case Opcode::copy: parse_copy(now, tuple); break;
    case Opcode::library: parse_library(now, tuple); break;
    case Opcode::host: parse_host(now, tuple); break;
    case Opcode::check:
        now.source = nb::cast<int>(tuple[1]);
        if (use(now.source).type != ElementType::boolean || use(now.source).ndim != 0)
            reject("a check takes a bool");
        break;
    case Opcode::measure: parse_measure(now, tuple); break;
    case Opcode::jump:
    case Opcode::jump_unless: parse_jump(now, tuple); break;
    case Opcode::move: parse_move(now, tuple); break;
    default: parse_view(now, tuple); break;
    }
    program_.instructions.push_back(now);
}

}  // namespace

void parse_program(ProgramObject &program, nb::handle symbols, nb::handle dims, nb::handle guards,
                   nb::handle inputs, nb::handle slots, nb::handle instructions,
                   nb::handle outputs) {
    program.references = nb::list();
    for (nb::handle item : inputs) {
        InputSpec input = {type_of(item[0]), nb::cast<int>(item[1])};
        if (input.ndim < 0 || input.ndim > max_rank) reject("a rank is 0..64");
        program.inputs.push_back(input);
    }
    parse_dims(program, symbols, dims, guards);
    for (nb::handle item : outputs) program.outputs.push_back(nb::cast<int>(item));
    const int count =
        PyLong_Check(slots.ptr()) ? nb::cast<int>(slots) : static_cast<int>(nb::len(slots));
    if (count < static_cast<int>(program.inputs.size())) reject("fewer slots than inputs");
    Parser parser(program, count, static_cast<int>(nb::len(instructions)),
                  program.dims.divide(measurements(program, instructions)));
    for (std::size_t i = 0; i < program.inputs.size(); ++i)
        parser.define(static_cast<int>(i), program.inputs[i].type, program.inputs[i].ndim);
    for (nb::handle item : instructions) parser.parse(item);
    for (int output : program.outputs) parser.defined(output);
    program.measure();
}

}  // namespace jitwise
