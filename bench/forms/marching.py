#!/usr/bin/env python3
"""Stars that march along z, as programs write them (plain.cu) and with registers that carry the
column (hand.cu). Names: type, radius, unrolled by nvcc or not (n, 1), indices of 64 or 32 bits."""

BEGIN = """int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
if (x < R || x >= nx - R || y < R || y >= ny - R) return;
"""


def kernel(name, real, radius, by_hand, unroll, wide):
    index = (
        "size_t i = ((size_t)z * ny + y) * nx + x; size_t sx = nx, sp = (size_t)nx * ny;"
        if wide
        else "int i = (z * ny + y) * nx + x; int sx = nx, sp = nx * ny;"
    )
    text = f"""extern "C" __global__ void {name}(const {real}* __restrict__ in, {real}* __restrict__ out,
int nx, int ny, int nz) {{ constexpr int R = {radius}; {BEGIN}"""
    if by_hand:
        text += f"""{real} c[2 * R + 1];
#pragma unroll
for (int k = 0; k < 2 * R; k++) c[k + 1] = in[((size_t)k * ny + y) * nx + x];
"""
    if not unroll:
        text += "#pragma unroll 1\n"
    text += f"for (int z = R; z < nz - R; z++) {{ {index}\n"
    if by_hand:
        text += f"""#pragma unroll
for (int k = 0; k < 2 * R; k++) c[k] = c[k + 1];
c[2 * R] = in[i + R * sp]; {real} s = c[R] * {real}(0.4);
"""
        along = "(c[R - r] + c[R + r])"
    else:
        text += f"{real} s = in[i] * {real}(0.4);\n"
        along = "(in[i - r * sp] + in[i + r * sp])"
    return text + f"""#pragma unroll
for (int r = 1; r <= R; r++)
s += {real}(0.1 / r) * ((in[i - r] + in[i + r]) + (in[i - r * sx] + in[i + r * sx]) + {along});
out[i] = s; }} }}
"""


for by_hand, name in ((False, "plain"), (True, "hand")):
    with open(f"{name}.cu", "w") as out:
        for real in ("float", "double"):
            for radius in (1, 2, 3, 4):
                for unroll in (True, False):
                    for wide in (True, False):
                        if wide or (unroll and not by_hand):
                            short = f"{real[0]}{radius}{'n' if unroll else '1'}{'l' if wide else 'i'}"
                            out.write(kernel(short, real, radius, by_hand, unroll, wide))
