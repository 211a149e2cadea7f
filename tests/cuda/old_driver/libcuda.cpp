// A driver that is older than the runtime: all that the CUDA runtime asks of libcuda.so.1 before it gives up.
extern "C" {

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) {
  *version = 12000;
  return 0;
}
}
