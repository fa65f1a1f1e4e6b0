// Library instructions: whole-array operations written by hand. Outputs are allocated before.
//
//     iota      [] -> [out], attrs [axis]                  out = 0, 1, 2, ... along the axis
//     cumsum    [x] -> [out], attrs [axis, reverse]        running sum, in NumPy's order
//     cumprod   [x] -> [out], attrs [axis, reverse]
//     product   [x] or [x, start] -> [out], attrs axes     see library_product.cpp
//     gather, scatter, scatter_at                          see library_gather.cpp
//     matmul    [a, b] -> [out], attrs []                  a (..., m, k), b (..., k, n), equal
//     batch axes
//     count      [mask] -> [out], attrs []                 how many elements are true, an i64
//     compress   [x, mask] -> [out], attrs [axis]          what x has along the axis where mask is
//     place      [mask, part] -> [out], attrs [axis]       the way back: out starts as a copy
//     places     [mask] -> [out, ...], attrs []            along each axis, where it is true
#pragma once

#include "frame.h"

namespace jitwise {

struct LibraryCall {
    Frame &frame;
    const Instruction &instruction;
    const int *words;

    LibraryCall(Frame &frame, const Instruction &instruction)
        : frame(frame), instruction(instruction), words(frame.words(instruction)) {}
    Slot &in(int i) const { return frame.slots[words[i]]; }
    Slot &out(int i) const { return frame.slots[words[instruction.in_count + i]]; }
    int attr(int i) const { return words[instruction.in_count + instruction.out_count + i]; }
};

void library_iota(Frame &frame, const Instruction &instruction);
void library_cumsum(Frame &frame, const Instruction &instruction);
void library_cumprod(Frame &frame, const Instruction &instruction);
void library_product(Frame &frame, const Instruction &instruction);
void library_gather(Frame &frame, const Instruction &instruction);
void library_scatter(Frame &frame, const Instruction &instruction);
void library_scatter_at(Frame &frame, const Instruction &instruction);
void library_matmul(Frame &frame, const Instruction &instruction);
void library_count(Frame &frame, const Instruction &instruction);
void library_compress(Frame &frame, const Instruction &instruction);
void library_place(Frame &frame, const Instruction &instruction);
void library_places(Frame &frame, const Instruction &instruction);

// Matrix products of a type: the Fortran function of that name, all arguments by address. 0 removes
// it. False: no such name. Its integers have 64 bits if wide, else 32; all functions are of one
// library, and set while no product runs.
bool set_blas_function(const char *name, const void *address);
void set_blas_integers(bool wide);
bool has_blas(ElementType type);

}  // namespace jitwise
