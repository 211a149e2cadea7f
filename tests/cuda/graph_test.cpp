// CUDA graphs: what is captured, what a launch sees, and whose the memory is.
#include <gtest/gtest.h>
#include <heddle/cuda/graph.hpp>
#include <heddle/ops/activation.hpp>
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/dropout.hpp>
#include <heddle/ops/matmul.hpp>
#include <heddle/ops/reduce.hpp>

#include <optional>
#include <stdexcept>
#include <vector>

namespace {

namespace hd = heddle;
using Graph = hd::cuda::Graph;
using Vector = hd::Tensor<float, 1, hd::Cuda>;

std::size_t in_use() {
  hd::cuda::synchronize();
  return hd::cuda::memory_stats().in_use;
}

Vector vector(std::size_t count, float value) {
  return hd::full<float>({static_cast<hd::index_t>(count)}, value, hd::Cuda{});
}

TEST(Graph, R182_EachLaunchTakesTheNewInputAndKeepsItsMemory) {
  const auto w = hd::tensor<float>({{1, -1}, {2, 0}, {0, 3}}, hd::Cuda{});
  const auto b = hd::tensor<float>({{0.5f}, {-1.0f}, {0.0f}}, hd::Cuda{});
  auto x = hd::tensor<float>({{0}, {0}}, hd::Cuda{});
  hd::Tensor<float, 2, hd::Cuda> y;
  hd::Tensor<float, 0, hd::Cuda> total;
  Graph graph = Graph::capture([&] {
    y = hd::relu(hd::matmul(w, x) + b);
    total = hd::sum(y);
  });
  const float inputs[3][2] = {{1, 2}, {3, -1}, {-5, 4}};
  const std::vector<float> outputs[3] = {{0, 1, 6}, {4.5f, 5, 0}, {0, 0, 12}};
  for (int replay = 0; replay < 3; ++replay) {
    std::vector<Vector> others;  // of the captured sizes, where memory that was handed out twice would be
    for (int i = 0; i < 20; ++i) {
      others.push_back(vector(3, -7));
      others.push_back(vector(1, -7));
    }
    if (replay == 1) others.clear();
    x.copy_from(hd::tensor<float>({{inputs[replay][0]}, {inputs[replay][1]}}, hd::Cuda{}));
    graph.launch();
    EXPECT_EQ(y.to_vector(), outputs[replay]);
    EXPECT_EQ(total.item(), outputs[replay][0] + outputs[replay][1] + outputs[replay][2]);
    for (const Vector& other : others)
      for (const float value : other.to_vector()) EXPECT_EQ(value, -7.0f);
  }
}

TEST(Graph, ACaptureDoesNothingYet) {
  auto x = vector(1000, 1);
  Graph graph = Graph::capture([&] { x += 1.0f; });
  EXPECT_EQ(x.to_vector(), std::vector<float>(1000, 1.0f));
  for (int i = 0; i < 5; ++i) graph.launch();
  EXPECT_EQ(x.to_vector(), std::vector<float>(1000, 6.0f));
}

TEST(Graph, MemoryReleasedInTheCaptureServesTheRestOfIt) {
  auto x = vector(1000, 1);
  std::vector<const float*> places;
  Graph graph = Graph::capture([&] {
    for (int i = 0; i < 4; ++i) {
      const Vector doubled = hd::eval(x + x);
      places.push_back(doubled.data());
      x.copy_from(doubled);
    }
  });
  EXPECT_EQ(places, std::vector<const float*>(4, places[0]));
  graph.launch();
  EXPECT_EQ(x.to_vector(), std::vector<float>(1000, 16.0f));
}

TEST(Graph, WhatItUsesOutlivesTheTensors) {
  const std::size_t before = in_use();
  auto result = vector(1000, 0);
  {
    std::optional<Graph> graph;
    {
      std::optional<Vector> x = vector(1000, 3);
      graph.emplace(Graph::capture([&] {
        const Vector squared = hd::eval(*x * *x);
        result.assign(squared + *x);
      }));
    }
    std::vector<Vector> others;
    for (int i = 0; i < 8; ++i) others.push_back(vector(1000, -1));
    graph->launch();
    EXPECT_EQ(result.to_vector(), std::vector<float>(1000, 12.0f));
  }
  result = Vector();
  EXPECT_EQ(in_use(), before) << "with the graph goes what it kept";
}

TEST(Graph, WhatWasMadeInItOutlivesTheGraph) {
  Vector y;
  {
    auto x = vector(1000, 2);
    Graph graph = Graph::capture([&] { y = x * 3.0f; });
    graph.launch();
  }
  EXPECT_EQ(y.to_vector(), std::vector<float>(1000, 6.0f));
}

TEST(Graph, AResultOfOneGraphIsTheInputOfAnother) {
  auto x = vector(100, 1);
  Vector z;
  std::optional<Graph> second;
  {
    Vector y;
    Graph first = Graph::capture([&] { y = x + 1.0f; });
    second.emplace(Graph::capture([&] { z = y * 10.0f; }));
    first.launch();
    second->launch();
  }
  EXPECT_EQ(z.to_vector(), std::vector<float>(100, 20.0f));
  second->launch();
  EXPECT_EQ(z.to_vector(), std::vector<float>(100, 20.0f));
}

TEST(Graph, LaunchesOnAnyStream) {
  auto x = vector(1000, 1);
  Graph graph = Graph::capture([&] { x *= 2.0f; });
  const hd::cuda::Stream one, other;
  hd::cuda::synchronize();
  graph.launch(one);
  hd::cuda::Event done;
  done.record(one);
  other.wait(done);
  graph.launch(other);
  other.synchronize();
  EXPECT_EQ(x.to_vector(), std::vector<float>(1000, 4.0f));
  Graph moved = std::move(graph);
  EXPECT_THROW(graph.launch(), hd::Error);
  moved.launch();
  EXPECT_EQ(x.to_vector(), std::vector<float>(1000, 8.0f));
  moved = Graph::capture([&] { x += 1.0f; });
  moved.launch();
  EXPECT_EQ(x.to_vector(), std::vector<float>(1000, 9.0f));
}

TEST(Graph, WhatNeedsTheHostIsRefused) {
  const std::size_t before = in_use();
  {
    const auto x = vector(10, 1);
    EXPECT_THROW(Graph::capture([&] { static_cast<void>(hd::sum(x).item()); }), hd::UnsupportedError);
    EXPECT_THROW(Graph::capture([&] { static_cast<void>(x.to_vector()); }), hd::UnsupportedError);
    EXPECT_THROW(Graph::capture([&] {
                   static_cast<void>(hd::tensor<float>({1, 2}, hd::Cuda{}));
                 }),
                 hd::UnsupportedError);
    EXPECT_THROW(Graph::capture([&] { hd::cuda::current_stream().synchronize(); }), hd::UnsupportedError);
    EXPECT_THROW(Graph::capture([] { throw std::logic_error("the user's own"); }), std::logic_error);
    try {
      Graph::capture([&] { static_cast<void>(x.to_vector()); });
    } catch (const hd::UnsupportedError& error) {
      EXPECT_NE(std::string(error.what()).find("can't be captured"), std::string::npos) << error.what();
    }
    EXPECT_EQ(x.to_vector(), std::vector<float>(10, 1.0f)) << "all goes on as before";
  }
  EXPECT_EQ(in_use(), before);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST(Graph, OtherStreamsAreRefusedUnlessTheyJoinIt) {
  const auto x = vector(10, 1);
  auto y = vector(10, 0), z = vector(10, 0);
  const hd::cuda::Stream other;
  EXPECT_THROW(Graph::capture([&] { const hd::cuda::StreamGuard on(other); }), hd::UnsupportedError);
  EXPECT_THROW(Graph::capture([] { hd::cuda::synchronize(); }), hd::UnsupportedError);
  hd::cuda::Event event;
  event.record();
  EXPECT_THROW(Graph::capture([&] { event.synchronize(); }), hd::UnsupportedError);
  Graph graph = Graph::capture([&] {
    hd::cuda::Event fork, join;
    y.assign(x + 1.0f);
    fork.record();
    fork.wait(other);
    {
      const hd::cuda::StreamGuard on(other);
      z.assign(y * 2.0f);
      join.record();
    }
    join.wait();
    y.assign(y + z);
  });
  graph.launch();
  EXPECT_EQ(y.to_vector(), std::vector<float>(10, 6.0f));
}

TEST(Graph, R184_RandomNumbersAreRefused) {
  const auto x = vector(10000, 1);
  EXPECT_THROW(Graph::capture([&] { static_cast<void>(hd::eval(hd::dropout(x, 0.5))); }), hd::UnsupportedError);
  EXPECT_THROW(Graph::capture([&] { static_cast<void>(hd::rand<float>({10}, hd::Cuda{})); }), hd::UnsupportedError);
  // A state of one's own is meant to give the same mask.
  hd::Generator generator{5};
  const hd::RandomState state = generator.next_state();
  Vector y;
  Graph graph = Graph::capture([&] { y = hd::dropout(x, 0.5, state); });
  graph.launch();
  EXPECT_EQ(y.to_vector(), hd::eval(hd::dropout(x, 0.5, state)).to_vector());
  // Masks of its own for each launch come from outside.
  auto mask = hd::eval(hd::bernoulli<float>(generator, 0.5, {10000}, hd::Cuda{}));
  Graph masked = Graph::capture([&] { y = x * mask * 2.0f; });
  masked.launch();
  const std::vector<float> first = y.to_vector();
  mask.copy_from(hd::bernoulli<float>(generator, 0.5, {10000}, hd::Cuda{}));
  masked.launch();
  EXPECT_NE(y.to_vector(), first);
}

}  // namespace
