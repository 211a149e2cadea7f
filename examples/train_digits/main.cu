// The same program for nvcc: it computes on CUDA devices too.
#include "main.cpp"
