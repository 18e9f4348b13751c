"""Random kernels of floating-point arithmetic: what an assembler may fuse, fold and reorder.

Each kernel is made from a seed: loads of a few neighbours (which blocks and lanes share), then a
random expression of sums, products, divisions, approximate functions, signs, minima, conversions
and copies, in f32, f64, f16x2 or bf16x2, with loops of constant trip counts and predicates.

    kernels.py FROM COUNT [TARGET]       a module with these kernels, to standard output
"""
import random
import struct
import sys

WIDTH, PLANE = 256, 16  # elements of a row, rows; a thread reads rows y .. y + 3, columns x .. x + 2
HELD = {"f32": (".f32", "f32", 4), "f64": (".f64", "f64", 8),
        "f16x2": (".b32", "b32", 4), "bf16x2": (".b32", "b32", 4)}


class Kernel:
    def __init__(self, seed, name):
        self.r, self.name = random.Random(seed), name
        self.type = self.r.choices(["f32", "f64", "f16x2", "bf16x2"], [70, 20, 6, 4])[0]
        self.ftz = ".ftz" if self.type == "f32" and self.r.random() < .4 else ""
        self.held, self.moved, self.size = HELD[self.type]
        self.lines, self.count, self.labels, self.predicates = [], 0, 0, 0
        self.fast = self.r.choice(["approx", "full", "rn"])  # how this kernel divides

    def out(self, line):
        self.lines.append("\t" + line)

    def new(self):
        self.count += 1
        return f"%v{self.count}"

    def literal(self):
        value = self.r.choice([0.75, 0.2, 1.5, 3.0, -0.3, 1.0, -1.0, 2.0, 0.5, 0.0, 1e-3, 4.0, 0.038095])
        if self.type == "f32":
            return "0f%08X" % struct.unpack("<I", struct.pack("<f", value))[0]
        if self.type == "f64":
            return "0d%016X" % struct.unpack("<Q", struct.pack("<d", value))[0]
        return None

    def pick(self, pool, literal=.1):
        if self.r.random() < literal and (text := self.literal()):
            return text
        return self.r.choice(pool[-6:] if self.r.random() < .6 else pool)

    def apply(self, op, *sources, to=None, guard=""):
        to = to or self.new()
        self.out(f"{guard}{op} {to}, {', '.join(sources)};")
        return to

    def operation(self, pool, to=None, guard=""):
        kind, t, ftz = self.r.random(), self.type, self.ftz
        a = self.pick(pool, 0)
        if kind < .30:
            return self.apply(f"mul{ftz}.{t}", a, self.pick(pool), to=to, guard=guard)
        if kind < .50:
            op = self.r.choice(["add", "sub"])
            return self.apply(f"{op}{ftz}.{t}", a, self.pick(pool), to=to, guard=guard)
        if kind < .58:
            return self.apply(f"fma.rn{ftz}.{t}", a, self.pick(pool), self.pick(pool), to=to, guard=guard)
        if kind < .63:
            return self.apply(f"neg{ftz}.{t}", a, to=to, guard=guard)
        if t in ("f16x2", "bf16x2"):
            return self.apply(f"mul.{t}", a, self.pick(pool), to=to, guard=guard)
        if kind < .67:
            return self.apply(f"mov.{self.moved}", a, to=to, guard=guard)
        if kind < .70:
            return self.apply(f"{self.r.choice(['min', 'max'])}{ftz}.{t}", a, self.pick(pool), to=to, guard=guard)
        if kind < .72:
            return self.apply(f"abs{ftz}.{t}", a, to=to, guard=guard)
        if kind < .75:
            rounding = self.r.choice(["rn", "rz", "rm"])
            return self.apply(f"{self.r.choice(['add', 'mul'])}.{rounding}{ftz}.{t}", a, self.pick(pool), to=to, guard=guard)
        if t == "f64":
            return self.double(pool, a, to, guard)
        return self.single(pool, a, to, guard)

    def double(self, pool, a, to, guard):
        kind = self.r.random()
        if kind < .3:
            return self.apply("div.rn.f64", a, self.pick(pool), to=to, guard=guard)
        if kind < .5:
            return self.apply("sqrt.rn.f64", a, to=to, guard=guard)
        if kind < .7:
            self.out(f"cvt.rn.f32.f64 %s0, {a};")
            return self.apply("cvt.f64.f32", "%s0", to=to, guard=guard)
        return self.apply("mul.f64", a, self.pick(pool), to=to, guard=guard)

    def single(self, pool, a, to, guard):
        kind, ftz = self.r.random(), self.ftz
        if kind < .30:
            return self.apply(f"div.{self.fast}{ftz}.f32", a, self.pick(pool), to=to, guard=guard)
        if kind < .42:
            return self.apply(f"rcp.{'rn' if self.fast == 'rn' else 'approx'}{ftz}.f32", a, to=to, guard=guard)
        if kind < .72:
            op = self.r.choice(["sqrt", "rsqrt", "sin", "cos", "ex2", "lg2"])
            return self.apply(f"{op}.approx{ftz}.f32", a, to=to, guard=guard)
        if kind < .78:
            return self.apply(f"sqrt.rn{ftz}.f32", a, to=to, guard=guard)
        if kind < .84:
            self.out(f"mov.b32 %r9, {a};")
            return self.apply("mov.b32", "%r9", to=to, guard=guard)
        if kind < .88:
            self.out(f"mov.b64 %rd9, {{{a}, {self.pick(pool, 0)}}};")
            rest = self.new()
            to = to or self.new()
            self.out(f"mov.b64 {{{to}, {rest}}}, %rd9;")
            return to
        if kind < .94:
            self.out(f"cvt.rn.f16.f32 %h0, {a};")
            return self.apply("cvt.f32.f16", "%h0", to=to, guard=guard)
        return self.apply(f"cvt{self.r.choice(['.sat', '.rni'])}{ftz}.f32.f32", a, to=to, guard=guard)

    def some(self, pool, n):
        for _ in range(n):
            pool.append(self.operation(pool))

    def loop(self, pool):
        """A few trips, their number known: the assembler may unroll them, and fold what is then constant."""
        self.labels += 1
        label, sums = f"$L_{self.name}_{self.labels}", []
        for _ in range(self.r.randint(1, 2)):
            sums.append(self.apply(f"mov.{self.moved}", self.pick(pool, 0)))
        self.out("mov.u32 %r8, 0;")
        self.lines.append(label + ":")
        inner = pool + sums
        if self.type in ("f32", "f64") and self.r.random() < .5:
            inner.append(self.apply(f"cvt.rn.{self.type}.u32", "%r8"))
            if self.type == "f32" and self.r.random() < .3:
                inner.append(self.apply(f"rsqrt.approx{self.ftz}.f32", inner[-1]))
        self.some(inner, self.r.randint(2, 6))
        for total in sums:
            self.operation(inner, to=total)
        self.out("add.u32 %r8, %r8, 1;")
        self.out(f"setp.lt.u32 %p0, %r8, {self.r.randint(2, 9)};")
        self.out(f"@%p0 bra {label};")
        pool.extend(sums)

    def guarded(self, pool):
        if self.type not in ("f32", "f64"):
            return
        self.out(f"setp.gt.{self.type} %p1, {self.pick(pool, 0)}, {self.pick(pool)};")
        to = self.apply(f"mov.{self.moved}", self.pick(pool, 0))
        self.operation(pool, to=to, guard="@%p1 ") if self.r.random() < .5 else self.out(
            f"selp.{self.type} {to}, {self.pick(pool)}, {self.pick(pool)}, %p1;")
        pool.append(to)

    def text(self):
        pool, size = [], self.size
        places = [(y, x) for y in range(4) for x in range(3)]
        for y, x in sorted(self.r.sample(places, self.r.randint(3, 8))):
            value = self.new()
            self.out(f"ld.global{'.nc' if self.r.random() < .8 else ''}.{self.moved} {value}, [%rd5+{(y * WIDTH + x) * size}];")
            pool.append(value)
        self.some(pool, self.r.choice([4, 8, 16, 30]))
        for _ in range(self.r.choice([0, 0, 1, 1, 2])):
            self.loop(pool) if self.r.random() < .6 else self.guarded(pool)
            self.some(pool, self.r.randint(2, 8))
        for n in range(2):
            self.out(f"st.global.{self.moved} [%rd6+{n * WIDTH * PLANE * size}], {pool[-1 - n]};")
        body = "\n".join(self.lines)
        return f""".visible .entry {self.name}(.param .u64 in, .param .u64 out)
{{
	.reg .pred %p<2>; .reg .b16 %h<1>; .reg .b32 %r<10>; .reg .f32 %s<1>; .reg .b64 %rd<10>;
	.reg {self.held} %v<{self.count + 1}>;
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	cvta.to.global.u64 %rd1, %rd1;
	cvta.to.global.u64 %rd2, %rd2;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r4, %r1, %r2, %r3;
	mov.u32 %r5, %ctaid.y;
	mad.lo.s32 %r6, %r5, {WIDTH}, %r4;
	mul.wide.s32 %rd3, %r6, {size};
	add.s64 %rd5, %rd1, %rd3;
	add.s64 %rd6, %rd2, %rd3;
{body}
	ret;
}}
"""


def module(first, count, target="sm_90"):
    kernels = "".join(Kernel(seed, f"k{seed}").text() for seed in range(first, first + count))
    return f".version 8.6\n.target {target}\n.address_size 64\n{kernels}"


if __name__ == "__main__":
    print(module(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]), end="")
