// The four cubic Lagrange weights of a value t, for the points -1, 0, 1 and 2.
#pragma once

struct CubicWeights {
  float w[4];
  __device__ explicit CubicWeights(float t)
      : w{(1.0f / 6.0f) * t * (t + 1.0f) * (t + 2.0f), -0.5f * (t - 1.0f) * (t + 1.0f) * (t + 2.0f),
          0.5f * (t - 1.0f) * t * (t + 2.0f), -(1.0f / 6.0f) * (t - 1.0f) * t * (t + 1.0f)} {}
  __device__ float operator[](int p) const { return w[p]; }
};
