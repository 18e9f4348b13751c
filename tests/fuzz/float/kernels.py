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
        "f16x2": (".b32", "b32", 4), "bf16x2": (".b32", "b32", 4),
        "f16": (".b16", "b16", 2), "bf16": (".b16", "b16", 2)}
WILD, MIXED = 2000000, 4000000  # seeds beyond make kernels of the second, and third kind


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
        if t not in ("f32", "f64"):
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


class Wild(Kernel):
    """Copies that hide where a value comes from, functions of loop counters, numbers at the edges.

    None in double precision that makes a number of a NaN's bits, as copysign does of its sign: which NaN
    it is is not promised there. And no selections between scalar halves: ptxas 13.0 puts both choices into
    one register although the other is read later, when it packs half-precision operations.
    """

    def __init__(self, seed, name):
        super().__init__(seed, name)
        self.type = self.r.choices(list(HELD), [50, 20, 10, 8, 6, 6])[0]
        self.ftz = ".ftz" if self.type == "f32" and self.r.random() < .4 else ""
        self.held, self.moved, self.size = HELD[self.type]
        self.kept = {"[room": self.r.random() < .08, "shfl": self.r.random() < .1}  # no merging, or less

    def literal(self):
        if self.type == "f32" and self.r.random() < .5:
            return "0f%08X" % self.r.choice([0x3f800000, 0xbf800000, 0x40000000, 0x3f000000, 0x40800000, 0x3e000000, 0x41000000,
                                             0x80000000, 0, 0x00400000, 0x00800000, 0x7f800000, 0x7f000000, 0x0d800000,
                                             0x7fc01234, 0x3f7fffff])
        return super().literal()

    def some_of(self, of, a, to):
        """One of the lines of text; A and B are operands, D the result, and what else is written is scratch."""
        text = self.r.choice([t for t in of if all(kept or word not in t for word, kept in self.kept.items())])
        to = to or self.new()
        self.out(text.replace("A", a).replace("B", self.pick(self.pool, 0)).replace("D", to))
        return to

    def operation(self, pool, to=None, guard=""):
        self.pool = pool
        a, z = self.pick(pool, 0), self.ftz
        kind = self.r.random()
        if guard or kind < .45:
            return super().operation(pool, to, guard)
        if self.type == "f32":
            return self.some_of([
                "mov.b32 %r9, A;\n\tprmt.b32 %r9, %r9, 0, 0x3210;\n\tmov.b32 D, %r9;",
                "mov.b32 %r9, A;\n\txor.b32 %r9, %r9, 0x80000000;\n\tmov.b32 D, %r9;",
                "mov.b32 %r9, A;\n\tand.b32 %r9, %r9, 0x7fffffff;\n\tmov.b32 D, %r9;",
                "mov.b32 %r9, A;\n\tand.b32 %r9, %r9, 0xfffff000;\n\tmov.b32 D, %r9;",
                "mov.b32 %r9, A;\n\tshf.l.wrap.b32 %r9, %r9, %r9, 0;\n\tmov.b32 D, %r9;",
                "mov.b32 %r9, A;\n\tmov.b64 %rd9, {%r9, %r1};\n\tcvt.u32.u64 %r9, %rd9;\n\tmov.b32 D, %r9;",
                "st.local.f32 [room], A;\n\tld.local.f32 D, [room];",
                "st.local.f32 [room+4], A;\n\tld.local.b32 %r9, [room+4];\n\tmov.b32 D, %r9;",
                f"setp.gt{z}.f32 %p1, A, B;\n\tselp.f32 D, A, B, %p1;",
                "setp.lt.u32 %p1, %r3, 40;\n\tselp.f32 D, A, B, %p1;",
                f"slct{z}.f32.f32 D, A, B, A;",
                f"set.gt{z}.f32.f32 D, A, B;",
                "copysign.f32 D, A, B;",
                "testp.subnormal.f32 %p1, A;\n\tselp.f32 D, B, A, %p1;",
                "shfl.sync.bfly.b32 D, A, 0, 31, -1;",
                "shfl.sync.idx.b32 D, A, 3, 31, -1;",
                f"min{z}.NaN.f32 D, A, B;", f"max{z}.NaN.f32 D, A, B;", "max.xorsign.abs.f32 D, A, B;",
                f"neg{z}.f32 %s0, A;\n\tneg{z}.f32 D, %s0;", f"abs{z}.f32 D, A;", f"max{z}.f32 D, A, A;",
                f"add{z}.f32 D, A, A;", f"mul{z}.f32 D, A, A;", f"mul{z}.f32 D, A, 0f40000000;", f"mul.rn{z}.f32 D, A, 0f3F000000;",
                f"mul{z}.f32 %s0, A, B;\n\tmul{z}.f32 D, %s0, 0f3F000000;",
                f"mul{z}.f32 %s0, A, 0f40800000;\n\tmul{z}.f32 D, %s0, B;",
                f"fma.rn{z}.f32 D, A, 0f3F800000, B;", f"fma.rn{z}.f32 D, A, B, 0f80000000;", f"fma.rz{z}.f32 D, A, B, A;",
                f"add.sat{z}.f32 D, A, B;", f"mul.sat{z}.f32 D, A, B;", f"fma.rn{z}.sat.f32 D, A, B, A;",
                f"mul.rp{z}.f32 D, A, B;", f"sub.rm{z}.f32 D, A, B;",
                f"div.full{z}.f32 D, A, B;", f"div.approx{z}.f32 D, A, B;", f"div.full{z}.f32 D, A, 0f40000000;",
                f"div.approx{z}.f32 D, A, 0f40400000;", f"div.rn{z}.f32 D, A, 0f40000000;",
                f"rcp.approx{z}.f32 %s0, A;\n\tmul{z}.f32 D, %s0, B;", f"rsqrt.approx{z}.f32 %s0, A;\n\tmul{z}.f32 D, %s0, A;",
                f"sqrt.approx{z}.f32 %s0, A;\n\trcp.approx{z}.f32 D, %s0;", f"lg2.approx{z}.f32 %s0, A;\n\tex2.approx{z}.f32 D, %s0;",
                "tanh.approx.f32 D, A;", f"ex2.approx{z}.f32 D, A;",
                "cvt.f64.f32 %sd0, A;\n\tcvt.rn.f32.f64 D, %sd0;", "cvt.f64.f32 %sd0, A;\n\tmul.f64 %sd0, %sd0, %sd0;\n\tcvt.rn.f32.f64 D, %sd0;",
                "cvt.f64.f32 %sd0, A;\n\trcp.approx.ftz.f64 %sd0, %sd0;\n\tcvt.rn.f32.f64 D, %sd0;",
                "cvt.rz.f16.f32 %h0, A;\n\tcvt.f32.f16 D, %h0;", "cvt.rn.bf16.f32 %h0, A;\n\tcvt.f32.bf16 D, %h0;",
                "cvt.rn.f16.f32 %h0, A;\n\tmul.f16 %h0, %h0, %h0;\n\tcvt.f32.f16 D, %h0;",
                f"cvt.rzi{z}.s32.f32 %r9, A;\n\tcvt.rn.f32.s32 D, %r9;", f"cvt.rmi{z}.f32.f32 D, A;", f"cvt.rzi{z}.u16.f32 %h0, A;\n\tcvt.rn.f32.u16 D, %h0;",
                f"sub{z}.f32 D, A, A;", f"sin.approx{z}.f32 D, A;", f"cos.approx{z}.f32 D, A;",
            ], a, to)
        if self.type == "f64":
            return self.some_of([
                "fma.rn.f64 D, A, B, A;", "fma.rn.f64 D, A, 0d3FF0000000000000, B;", "mul.f64 D, A, 0d4000000000000000;",
                "mul.f64 %sd0, A, B;\n\tmul.f64 D, %sd0, 0d3FE0000000000000;", "rcp.rn.f64 D, A;", "rcp.approx.ftz.f64 D, A;",
                "rsqrt.approx.f64 D, A;", "rsqrt.approx.ftz.f64 D, A;", "div.rn.f64 D, A, 0d4000000000000000;",
                "mov.b64 {%r8, %r9}, A;\n\tmov.b64 D, {%r8, %r9};".replace("%r8", "%r7"), "cvt.rzi.s64.f64 %rd9, A;\n\tcvt.rn.f64.s64 D, %rd9;",
                "min.f64 D, A, B;", "abs.f64 D, A;", "neg.f64 %sd0, A;\n\tneg.f64 D, %sd0;", "max.f64 D, A, B;",
                "cvt.rn.f16.f64 %h0, A;\n\tcvt.f64.f16 D, %h0;", "cvt.rmi.f64.f64 D, A;", "mul.rz.f64 D, A, B;",
                "st.local.f64 [room], A;\n\tld.local.f64 D, [room];", "setp.gt.f64 %p1, A, B;\n\tselp.f64 D, A, B, %p1;",
            ], a, to)
        t = self.type
        pair = t.endswith("x2")
        lines = ["fma.rn.T D, A, B, A;", "fma.rn.relu.T D, A, B, A;", "min.T D, A, B;", "max.NaN.T D, A, B;", "neg.T D, A;", "abs.T D, A;",
                 "mul.rn.T D, A, B;", "add.rn.T D, A, B;", "sub.T D, A, B;", "add.T D, A, A;", "tanh.approx.T D, A;",
                 "ex2.approx.ftz.T D, A;" if t.startswith("b") else "ex2.approx.T D, A;", "selp.bN D, A, B, %p1;" if pair else "mov.bN D, A;",
                 "st.local.bN [room], A;\n\tld.local.bN D, [room];"]
        if not t.startswith("b"):
            lines += ["add.ftz.T D, A, B;", "add.sat.T D, A, B;", "mul.ftz.T D, A, B;"]
        base = t.removesuffix("x2")
        if pair:
            lines += ["mov.b32 {%h0, %h1}, A;\n\tmov.b32 D, {%h1, %h0};", "mov.b32 {%h0, %h1}, A;\n\tmul.S %h0, %h0, %h1;\n\tmov.b32 D, {%h0, %h1};",
                      "mov.b32 {%h0, %h1}, A;\n\tcvt.f32.S %s0, %h0;\n\tmul.f32 %s0, %s0, %s0;\n\tcvt.rn.S.f32 %h0, %s0;\n\tmov.b32 D, {%h0, %h1};",
                      "prmt.b32 D, A, B, 0x5410;", "xor.b32 D, A, 0x80008000;"]
        else:
            lines += ["cvt.f32.T %s0, A;\n\tcvt.rn.T.f32 D, %s0;", "cvt.f32.T %s0, A;\n\tmul.f32 %s0, %s0, 0f40000000;\n\tcvt.rn.T.f32 D, %s0;",
                      "cvt.f32.T %s0, A;\n\tex2.approx.f32 %s0, %s0;\n\tcvt.rn.T.f32 D, %s0;", "xor.b16 D, A, 0x8000;"]
        bits = str(8 * self.size)
        return self.some_of([x.replace("T", t).replace("S", base).replace("bN", "b" + bits) for x in lines], a, to)

    def loop(self, pool):
        """Of one counter or two, with weights that hang on them; some are not to be unrolled."""
        if self.r.random() < .3:
            return super().loop(pool)
        self.labels += 1
        label, deep = f"$L_{self.name}_{self.labels}", self.r.random() < .4
        sums = [self.apply(f"mov.{self.moved}", self.pick(pool, 0)) for _ in range(self.r.randint(1, 2))]
        begin, step, trips = self.r.choice([-2, -1, 0, 1, 2]), self.r.choice([1, 1, 1, 2, 3]), self.r.randint(2, 9)
        self.out(f"mov.u32 %rc0, {begin};")
        self.lines.append(label + ":")
        if self.r.random() < .15:
            self.out('.pragma "nounroll";')
        if deep:
            self.out(f"mov.u32 %rc1, {self.r.choice([-1, 0, 1])};")
            self.lines.append(label + "i:")
        inner = pool + sums
        if self.type in ("f32", "f64"):
            t = self.type
            self.out(f"mul.lo.s32 %r9, %rc0, {'%rc1' if deep else self.r.choice(['%rc0', 1, 2, 4, '%r3'])};")
            if self.r.random() < .5:
                self.out(f"add.s32 %r9, %r9, {self.r.choice(['%rc0', 1, 2])};")
            weight = self.apply(f"cvt.rn.{t}.s32", "%r9")
            if t == "f32" and self.r.random() < .4:
                weight = self.apply(f"{self.r.choice(['rsqrt', 'rcp', 'ex2', 'sqrt', 'lg2', 'sin'])}.approx{self.ftz}.f32", weight)
            inner += [weight, weight]
        self.some(inner, self.r.randint(2, 6))
        for total in sums:
            self.operation(inner, to=total)
        if deep:
            self.out("add.s32 %rc1, %rc1, 1;")
            self.out(f"setp.lt.s32 %p0, %rc1, {self.r.randint(2, 4)};")
            self.out(f"@%p0 bra {label}i;")
        self.out(f"add.s32 %rc0, %rc0, {step};")
        self.out(f"setp.lt.s32 %p0, %rc0, {begin + step * trips};")
        self.out(f"@%p0 bra {label};")
        pool.extend(sums)

    def text(self):
        text = super().text()
        text = text.replace(".reg .pred %p<2>; .reg .b16 %h<1>;", ".reg .pred %p<2>; .reg .b16 %h<2>; .reg .s32 %rc<2>;\n"
                            "\t.reg .f64 %sd<1>;" + (" .local .align 8 .b8 room[16];" if "[room" in text else ""), 1)
        return text.replace("\tmov.u32 %r5,", "\tsetp.lt.u32 %p1, %r3, 17;\n\tmov.u32 %r5,", 1)


class Mixed(Wild):
    """Each operation in single precision flushes denormals or keeps them, as in a program of several files."""

    @property
    def ftz(self):
        return ".ftz" if self.type == "f32" and self.r.random() < .5 else ""

    @ftz.setter
    def ftz(self, _):
        pass


def make(seed):
    """The kernel of a seed: wild ones from 2,000,001 on, mixed ones from 4,000,001 on."""
    return (Mixed if seed > MIXED else Wild if seed > WILD else Kernel)(seed, f"k{seed}")


def module(first, count, target="sm_90"):
    kernels = "".join(make(seed).text() for seed in range(first, first + count))
    return f".version 8.6\n.target {target}\n.address_size 64\n{kernels}"


if __name__ == "__main__":
    print(module(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]), end="")
