// Texture and surface objects of every dimension.
// ARCH: 75 90 | 80 86 89 100a 120
__global__ void reads(cudaTextureObject_t t, float4* out, float x, float y, float z) {
  out[0] = tex1D<float4>(t, x);
  out[1] = tex2D<float4>(t, x, y);
  out[2] = tex3D<float4>(t, x, y, z);
  out[3] = tex1DLayered<float4>(t, x, 1);
  out[4] = tex2DLayered<float4>(t, x, y, 2);
  out[5] = texCubemap<float4>(t, x, y, z);
  out[6] = texCubemapLayered<float4>(t, x, y, z, 3);
  out[7] = tex2DLod<float4>(t, x, y, 1.5f);
  out[8] = tex2DGrad<float4>(t, x, y, make_float2(x, y), make_float2(y, x));
  out[9] = tex2Dgather<float4>(t, x, y, 2);
  out[10].x = tex1Dfetch<float>(t, 17);
  out[10].y = tex1Dfetch<unsigned short>(t, 18) + tex2D<char>(t, x, y);
  bool resident = false;
  out[11] = tex2D<float4>(t, x, y, &resident);
  out[12].x = resident;
}

__global__ void surfaces(cudaSurfaceObject_t s, int4* out, int x, int y, int z) {
  out[0] = surf1Dread<int4>(s, 16 * x);
  out[1] = surf2Dread<int4>(s, 16 * x, y, cudaBoundaryModeZero);
  out[2] = surf3Dread<int4>(s, 16 * x, y, z, cudaBoundaryModeClamp);
  out[3] = surf2DLayeredread<int4>(s, 16 * x, y, z);
  surf1Dwrite(out[4].x, s, 4 * x);
  surf2Dwrite(out[5], s, 16 * x, y, cudaBoundaryModeTrap);
  surf3Dwrite(make_short2(1, 2), s, 4 * x, y, z);
  surfCubemapwrite(static_cast<signed char>(3), s, x, y, 1);
}
