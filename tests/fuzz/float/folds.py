"""Where what ptxas folds is not what the hardware computes.

    folds.py [--text FOLDER]      a line for each operation that differs; needs a GPU

Each operation that rounds by itself is done twice on the same special numbers: of literals, which
ptxas folds where it can, and of loaded numbers. Whether a rewrite may leave such an operation to
ptxas hangs on this: where the two differ in more than the payload of a NaN, an operation of what
may be a constant must not be left to how far a loop is unrolled (src/passes/shared/contraction_latitude.hpp).
--text only writes the modules and assembles them.
"""
import itertools
import json
import pathlib
import random
import subprocess
import sys

F32 = [0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x00000001, 0x80400000, 0x00400000, 0x007fffff, 0x00800000,
       0x00ffffff, 0x01000000, 0x3f000000, 0x3f7fffff, 0x3f800001, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc01234,
       0x7f801234, 0x40490fdb, 0x4f000000, 0x33000001, 0x477ff000, 0x38800000]
F64 = [0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x0000000000000001,
       0x000fffffffffffff, 0x0010000000000000, 0x001fffffffffffff, 0x3fe0000000000000, 0x3fefffffffffffff,
       0x3ff0000000000001, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000001234,
       0x400921fb54442d18, 0x380fffffffffffff, 0x3690000000000000, 0x47efffffefffffff, 0x41e0000000000000]
F16 = [0x0000, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x8200, 0x03ff, 0x0400, 0x07ff, 0x3bff, 0x3800, 0x7bff, 0x7c00, 0xfc00,
       0x7e12, 0x4248]
BF16 = [0x0000, 0x8000, 0x3f80, 0xbf80, 0x0001, 0x8040, 0x007f, 0x0080, 0x00ff, 0x3f7f, 0x3f00, 0x7f7f, 0x7f80, 0xff80,
        0x7fd2, 0x4049]
INTS = [0, 1, 0xffffffff, 0x7fffffff, 0x80000000, 0x01000001, 0x01000003, 0xff7fffff, 12345, 0x7fffff80]
LONGS = [0, 1, 2**64 - 1, 2**63 - 1, 2**63, 2**53 + 1, 2**24 + 1, 2**63 + 2**39, 0x7fffffbfffffffff, 12345]
VALUES = {"f32": F32, "f64": F64, "f16": F16, "bf16": BF16, "s32": INTS, "u32": INTS, "s64": LONGS, "u64": LONGS}
BYTES = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2, "s32": 4, "u32": 4, "s64": 8, "u64": 8, "s16": 2, "u16": 2, "pred": 4}
LETTER = {2: "h", 4: "r", 8: "d"}
MOST = {1: 64, 2: 600, 3: 600}


def operations():
    """(opcode, type of the result, types of the operands, how many combinations at most)"""
    for ftz in ("", ".ftz"):
        for rounding in (".rn", ".rz", ".rm", ".rp"):
            for op in ("add", "sub", "mul"):
                for sat in ("", ".sat"):
                    yield f"{op}{rounding}{ftz}{sat}.f32", "f32", ["f32"] * 2, 600
            yield f"fma{rounding}{ftz}.f32", "f32", ["f32"] * 3, 600
            yield f"sqrt{rounding}{ftz}.f32", "f32", ["f32"], 64
            yield f"rcp{rounding}{ftz}.f32", "f32", ["f32"], 64
            yield f"div{rounding}{ftz}.f32", "f32", ["f32"] * 2, 80
            yield f"cvt{rounding}i{ftz}.f32.f32", "f32", ["f32"], 64
            yield f"cvt{rounding}{ftz}.f32.f64", "f32", ["f64"], 64
            for to in ("s32", "u32", "s64", "u64", "s16", "u16"):
                yield f"cvt{rounding}i{ftz}.{to}.f32", to, ["f32"], 64
        for op in ("min", "max", "min.NaN", "max.NaN"):
            dotted = op.replace(".NaN", f"{ftz}.NaN") if "." in op else op + ftz
            yield f"{dotted}.f32", "f32", ["f32"] * 2, 600
        for op in ("neg", "abs"):
            yield f"{op}{ftz}.f32", "f32", ["f32"], 64
        yield f"cvt{ftz}.f64.f32", "f64", ["f32"], 64
        yield f"cvt.sat{ftz}.f32.f32", "f32", ["f32"], 64
        yield f"cvt.rn{ftz}.f16.f32", "f16", ["f32"], 64
        yield f"cvt.rz{ftz}.f16.f32", "f16", ["f32"], 64
        yield f"cvt{ftz}.f32.f16", "f32", ["f16"], 64
        for how in ("lt", "le", "gt", "eq", "ne", "ltu", "neu", "num", "nan"):
            yield f"setp.{how}{ftz}.f32", "pred", ["f32"] * 2, 600
    yield "cvt.rn.bf16.f32", "bf16", ["f32"], 64
    yield "cvt.rz.bf16.f32", "bf16", ["f32"], 64
    yield "cvt.f32.bf16", "f32", ["bf16"], 64
    for rounding in (".rn", ".rz", ".rm", ".rp"):
        for op in ("add", "sub", "mul", "fma", "div", "sqrt", "rcp"):
            yield f"{op}{rounding}.f64", "f64", ["f64"] * {"fma": 3, "sqrt": 1, "rcp": 1}.get(op, 2), \
                {"div": 30, "sqrt": 20, "rcp": 20}.get(op, 400)
        for of in ("s32", "u32", "s64", "u64"):
            for to in ("f32", "f64"):
                yield f"cvt{rounding}.{to}.{of}", to, [of], 64
        for to in ("s32", "u32", "s64", "u64"):
            yield f"cvt{rounding}i.{to}.f64", to, ["f64"], 64
        yield f"cvt{rounding}i.f64.f64", "f64", ["f64"], 64
    for op in ("min", "max"):
        yield f"{op}.f64", "f64", ["f64"] * 2, 400
    for op in ("neg", "abs"):
        yield f"{op}.f64", "f64", ["f64"], 64
    for kind in ("f16", "bf16"):
        for op in ("add", "sub", "mul", "fma"):
            for ftz in ("", ".ftz") if kind == "f16" else ("",):
                yield f"{op}.rn{ftz}.{kind}", kind, [kind] * (3 if op == "fma" else 2), 300
        for op in ("min", "max"):
            yield f"{op}.{kind}", kind, [kind] * 2, 300
        for op in ("neg", "abs"):
            yield f"{op}.{kind}", kind, [kind], 64


def chosen(types, most):
    every = list(itertools.product(*(VALUES[t] for t in types)))
    return every if len(every) <= most else random.Random(11).sample(every, most)


def head():
    return ".version 8.6\n.target sm_90\n.address_size 64\n"


def body(name, code, pointers):
    params = ", ".join(f".param .u64 p{n}" for n in range(pointers))
    loads = "".join(f"ld.param.u64 %p{n}, [p{n}];\ncvta.to.global.u64 %p{n}, %p{n};\n" for n in range(pointers))
    return f""".visible .entry {name}({params}) {{
.reg .pred %q; .reg .b16 %h<4>; .reg .b32 %r<6>; .reg .b64 %d<4>, %p<5>, %x<2>;
{loads}{code}ret;
}}
"""


def operation(op, to, types, number):
    result = "%q" if to == "pred" else f"%{LETTER[BYTES[to]]}0"
    sources = ", ".join(f"%{LETTER[BYTES[t]]}{n + 1}" for n, t in enumerate(types))
    code = f"{op} {result}, {sources};\n"
    return code + ("selp.b32 %r0, 1, 0, %q;\n" if to == "pred" else "")


def module(op, to, types, values):
    size, letter = BYTES[to], LETTER[BYTES[to]]
    folded = ""
    for n, of in enumerate(values):
        for k, (t, v) in enumerate(zip(types, of)):
            folded += f"mov.b{8 * BYTES[t]} %{LETTER[BYTES[t]]}{k + 1}, {v};\n"
        folded += operation(op, to, types, n) + f"st.global.b{8 * size} [%p0+{n * size}], %{letter}0;\n"
    computed = "mov.u32 %r4, %ctaid.x;\n"
    for k, t in enumerate(types):
        computed += f"mul.wide.u32 %x0, %r4, {BYTES[t]};\nadd.s64 %x0, %x0, %p{k + 1};\n"
        computed += f"ld.global.b{8 * BYTES[t]} %{LETTER[BYTES[t]]}{k + 1}, [%x0];\n"
    computed += operation(op, to, types, 0)
    computed += f"mul.wide.u32 %x0, %r4, {size};\nadd.s64 %x0, %x0, %p0;\nst.global.b{8 * size} [%x0], %{letter}0;\n"
    return head() + body("folded", folded, 1) + body("computed", computed, 1 + len(types))


def is_nan(kind, bits):
    low = {"f32": 23, "f64": 52, "f16": 10, "bf16": 7}.get(kind)
    if low is None:
        return False
    width = 8 * BYTES[kind]
    exponent = ((1 << (width - 1)) - 1) ^ ((1 << low) - 1)
    return bits & exponent == exponent and bits & ((1 << low) - 1) != 0


def compare(number, op, to, types, values):
    import numpy as np

    import gpu
    loaded = gpu.load(gpu.assemble(module(op, to, types, values), "sm_90"))
    size, kinds = BYTES[to], {2: np.uint16, 4: np.uint32, 8: np.uint64}
    places = [gpu.room(size * len(values)) for _ in range(2)]
    sources = []
    for k, t in enumerate(types):
        sources.append(gpu.room(BYTES[t] * len(values)))
        gpu.put(sources[-1], np.array([v[k] for v in values], dtype=kinds[BYTES[t]]))
    gpu.launch(loaded, "folded", (1, 1, 1), (1, 1, 1), places[0])
    gpu.launch(loaded, "computed", (len(values), 1, 1), (1, 1, 1), places[1], *sources)
    a, b = (gpu.get(p, size * len(values)).view(kinds[size]) for p in places)
    numbers = [n for n in range(len(values)) if a[n] != b[n] and not (is_nan(to, int(a[n])) and is_nan(to, int(b[n])))]
    nans = [n for n in range(len(values)) if a[n] != b[n] and n not in numbers]
    show = [f"{'/'.join(hex(v) for v in values[n])}: folded {int(a[n]):x}, computed {int(b[n]):x}"
            for n in (numbers or nans)[:4]]
    for place in places + sources:
        gpu.call("cuMemFree_v2", place)
    return {"operation": op, "tried": len(values), "numbers": len(numbers), "nans": len(nans), "such_as": show}


def main():
    count, different = 0, 0
    if len(sys.argv) > 2:
        folder = pathlib.Path(sys.argv[2])
    else:
        import gpu
        gpu.begin()
    for number, (op, to, types, most) in enumerate(operations()):
        values = chosen(types, most)
        if len(sys.argv) > 2:
            path = folder / f"{number}.ptx"
            path.write_text(module(op, to, types, values))
            done = subprocess.run(["ptxas", "-arch=sm_90", path, "-o", "/dev/null"], capture_output=True, text=True)
            if done.returncode:
                print(op, (done.stdout + done.stderr)[:300])
            continue
        try:
            result = compare(number, op, to, types, values)
        except Exception as error:  # an opcode that this ptxas does not know
            result = {"operation": op, "error": str(error)[:200], "numbers": 0, "nans": 0}
        count += result.get("tried", 0)
        different += result["numbers"]
        if result["numbers"] or result["nans"] or "error" in result:
            print(json.dumps(result), flush=True)
    print(json.dumps({"tried": count, "numbers": different}))


main()
