// CUDA graphs: work that is recorded once and put on a stream as a whole again and again.
#pragma once

#include "heddle/config.hpp"

#if HEDDLE_HAS_CUDA

#include <cuda_runtime_api.h>

#include <new>

#include "heddle/core/capture.hpp"
#include "heddle/core/error.hpp"
#include "heddle/cuda/check.hpp"
#include "heddle/cuda/device.hpp"
#include "heddle/cuda/event.hpp"
#include "heddle/cuda/memory.hpp"
#include "heddle/cuda/stream.hpp"

namespace heddle::cuda {

/// The device work of a piece of program, recorded once and then launched as a whole: one call instead of one for each
/// kernel. A launch does the same with what the tensors hold then. The graph keeps the memory of all tensors that it
/// uses, those that the piece made and those from before, until it is destroyed; nobody else is given it. So tensors
/// that the piece made can be read after each launch (and not before the first), and data comes in by writing to a
/// tensor that was there before (`x.copy_from(batch)`). State goes on from launch to launch only where it is written
/// to, by `w -= 0.1f * g` or `w.assign(...)`: `w = w - 0.1f * g` rebinds w to another tensor, and every launch begins
/// with the same. Numbers of the host's (scalars of a formula) stay as they were. What an operation needs at its first
/// use is best had before, by one run of the piece without a graph. Example: `auto step = hd::cuda::Graph::capture([&]
/// { y.assign(hd::relu(hd::matmul(x, w) + b)); }); step.launch();`
class Graph {
 public:
  /// Runs f, whose work on the device is recorded rather than done. Throws what f throws; UnsupportedError where f
  /// waits for the device, copies between host and device (`item`, `to_vector`, printing), draws random numbers, which
  /// would be the same in each launch, or works on a stream that is not part of the capture; DeviceError, OutOfMemory.
  template <class F>
  static Graph capture(F&& f, Cuda device = {}) {
    Graph graph(device);
    const DeviceGuard on_device(device);
    cudaGraph_t recorded = nullptr;
    {
      check(cudaStreamBeginCapture(graph.stream_.handle(), cudaStreamCaptureModeThreadLocal), "begin of a capture");
      const CaptureUnderWay mark;
      try {
        const StreamGuard on_stream(graph.stream_);
        static_cast<F&&>(f)();
      } catch (...) {
        if (cudaStreamEndCapture(graph.stream_.handle(), &recorded) != cudaSuccess) clear_own_error();
        if (recorded != nullptr) cudaGraphDestroy(recorded);
        throw;
      }
      check(cudaStreamEndCapture(graph.stream_.handle(), &recorded), "end of a capture");
    }
    const cudaError_t status = cudaGraphInstantiate(&graph.executable_, recorded, 0);
    cudaGraphDestroy(recorded);
    check(status, "a graph from what was captured");
    return graph;
  }

  Graph(Graph&& other) noexcept : stream_(other.stream_), executable_(other.executable_), open_(other.open_) {
    other.executable_ = nullptr;
    other.open_ = false;
  }
  Graph& operator=(Graph&& other) noexcept {
    if (this == &other) return *this;
    Graph mine(static_cast<Graph&&>(*this));
    stream_ = other.stream_;
    executable_ = other.executable_;
    open_ = other.open_;
    other.executable_ = nullptr;
    other.open_ = false;
    return *this;
  }
  /// Waits for the launches, then releases the memory that no tensor uses.
  ~Graph() {
    if (open_) close();
  }

  /// Puts the work on a stream, behind what is there, and returns. Launches of one graph come one after another, also
  /// on different streams; order with other work on other streams is the user's (an event). Throws DeviceError, also
  /// with the fault of an earlier kernel; Error for a graph that was moved from.
  void launch(const Stream& stream) {
    if (executable_ == nullptr) throw Error("launch: the graph was moved from");
    const DeviceGuard guard(device());
    check(cudaGraphLaunch(executable_, handle_of(stream.state())), "launch of a graph");
    // The graph's own stream waits for each launch: it stands for all of them where memory is released.
    order_after(stream_.handle(), device().index, stream.state(), stream.device().index);
  }
  void launch() { launch(current_stream(device())); }

  Cuda device() const noexcept { return stream_.device(); }
  /// CUDA's handle; null for a graph that was moved from.
  cudaGraphExec_t handle() const noexcept { return executable_; }

 private:
  /// While it lives the calling thread is in a capture.
  struct CaptureUnderWay {
    CaptureUnderWay() noexcept { ++captures_under_way; }
    CaptureUnderWay(const CaptureUnderWay&) = delete;
    CaptureUnderWay& operator=(const CaptureUnderWay&) = delete;
    ~CaptureUnderWay() { --captures_under_way; }
  };

  explicit Graph(Cuda device) : stream_(device) {
    stream_.state()->graph = new (std::nothrow) GraphMemory;
    if (stream_.state()->graph == nullptr)
      throw OutOfMemory(Message{} << "out of host memory for a graph", sizeof(GraphMemory), 0);
    open_ = true;
  }

  void close() noexcept {
    const bool alive = known_device_count() != 0;
    const DeviceGuard guard(device(), nullptr);
    GraphMemory& memory = *stream_.state()->graph;
    if (alive) cudaStreamSynchronize(stream_.handle());
    if (alive && executable_ != nullptr) cudaGraphExecDestroy(executable_);
    Use* kept = nullptr;
    {
      const GraphMemoryLock lock(memory);
      memory.open = false;
      kept = memory.kept;
      memory.kept = nullptr;
      for (GraphMemory::Block** link = &memory.blocks; *link != nullptr;) {
        GraphMemory::Block* const block = *link;
        if (block->in_use) {
          link = &block->next;
          continue;
        }
        *link = block->next;
        if (alive) cudaFree(block->data);
        delete block;
      }
    }
    while (kept != nullptr) {
      Use* const use = kept;
      kept = use->next;
      use->storage->release(use->storage);
      delete use;
    }
  }

  Stream stream_;  ///< what was captured on it; later it only waits
  cudaGraphExec_t executable_ = nullptr;
  bool open_ = false;
};

}  // namespace heddle::cuda

#endif  // HEDDLE_HAS_CUDA
