// The only door between formulas and kernels, and what tensors ask of it.
#pragma once

#include "heddle/expr/conversion.hpp"
#include "heddle/expr/device_memory.hpp"
#include "heddle/expr/form.hpp"
#include "heddle/kernels/cpu/map.hpp"
#include "heddle/kernels/cpu/spread.hpp"
#if HEDDLE_CUDA_COMPILER
#include "heddle/kernels/cuda/map.cuh"
#include "heddle/kernels/cuda/spread.cuh"
#endif

namespace heddle {
inline namespace HEDDLE_BUILD {

/// Calls run(bound_formula) with the formula bound to that output. What has to be computed first lives until run
/// returns.
template <spine Spine, class Node, class T, int Rank, class Device, class Run>
void with_bound(const Node& node, const Tensor<T, Rank, Device>& out, Run&& run) {
  using Binding = binding_t<Node, 0, Spine>;
  const Binding bindings(node);
  leaf_table<Binding::leaves, Rank> table;
  const auto form = bindings.enter(node, table, out.shape());
  run(bound_formula<typename Binding::form, T, Binding::leaves, Rank>{form, out.data(), out.shape(), out.strides(),
                                                                      table});
}

/// One map kernel.
template <class Node, class T, int Rank, class Device>
void evaluate_map(const Node& node, const Tensor<T, Rank, Device>& out) {
  with_bound<spine::none>(node, out, [&](const auto& bound) {
    if constexpr (std::is_same_v<Device, Cpu>) {
      on_cpu::map(bound);
    } else {
#if HEDDLE_CUDA_COMPILER
      on_cuda::map(bound, on_cuda::current_context(out.device().index, "map"));
#else
      static_assert(this_build::cuda_compiler || std::is_same_v<Device, Cpu>,
                    "operations on Cuda tensors need a CUDA compiler: compile this file as CUDA (.cu)");
#endif
    }
  });
}

/// The rare path after a producer that is smaller than the output: its values, in a tensor, through the epilogue that
/// the producer's own kernel would have applied.
template <class Values, class Bound>
void spread_values(const Values& values, const Bound& bound) {
  const auto expanded = values.expand(bound.shape);
  with_source(as_formula(expanded), [&](const auto& from) {
    using From = std::remove_cvref_t<decltype(from)>;
    bool inner[static_cast<std::size_t>(Bound::rank)] = {};
    const index_t size = expanded.size();
    if constexpr (std::is_same_v<typename Values::device_type, Cpu>) {
      inner[Bound::rank - 1] = true;
      const on_cpu::source<From> source(from, inner);
      const on_cpu::sink<Bound> sink(bound, -1, Bound::rank - 1);
      const index_t columns = bound.shape[Bound::rank - 1];
      on_cpu::spread(source.values(), sink.template values<typename on_cpu::source<From>::value_type>(), size / columns,
                     columns);
    } else {
#if HEDDLE_CUDA_COMPILER
      on_cuda::spread(on_cuda::source<From>(from, inner), on_cuda::sink<Bound>(bound, -1, -1), size,
                      on_cuda::current_context(values.device().index, "map"));
#endif
    }
  });
}

/// The most tensors that one map kernel reads: what compiling it costs grows with their square.
inline constexpr int max_kernel_operands = 24;

/// Whether one map kernel can take a formula: by the number of its tensors and the bytes of its parameters.
template <class Device, class T, class Node>
constexpr bool fits_one_kernel() {
#if HEDDLE_CUDA_COMPILER
  if constexpr (std::is_same_v<Device, Cuda> && is_map_v<Node> && !Node::has_producer) {
    using Binding = binding_t<Node, 0, spine::none>;
    return Binding::leaves <= max_kernel_operands &&
           on_cuda::map_parameter_bytes<typename Binding::form, T, Binding::leaves, Node::rank>() <=
               on_cuda::max_parameter_bytes;
  }
#endif
  return true;
}

/// The same map with the largest part of it that fits one kernel computed into a tensor.
template <class F, class... Operands>
auto with_a_part_computed(const map_formula<F, Operands...>& map) {
  constexpr int largest = [] {
    const std::size_t sizes[] = {sizeof(Operands)...};
    const bool maps[] = {is_map_v<Operands>...};
    int chosen = -1;
    for (int i = 0; i < static_cast<int>(sizeof...(Operands)); ++i)
      if (maps[i] && (chosen < 0 || sizes[i] > sizes[chosen])) chosen = i;
    return chosen;
  }();
  static_assert(largest >= 0, "this formula is too large for one kernel, and can't be split: its functor is too large");
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    const auto operand_at = [&]<int J>(std::integral_constant<int, J>) {
      const auto& operand = map.template child<J>();
      using Operand = std::remove_cvref_t<decltype(operand)>;
      if constexpr (J != largest)
        return operand;
      else if constexpr (fits_one_kernel<typename Operand::device_type, typename Operand::value_type, Operand>())
        return as_formula(evaluation_for<F>::make(operand));
      else
        return with_a_part_computed(operand);
    };
    return map_formula(map.functor(), operand_at(std::integral_constant<int, I>{})...);
  }
  (std::make_integer_sequence<int, static_cast<int>(sizeof...(Operands))>{});
}

/// Tells memory that belongs to another stream than the current one that work on this one uses it, so that it is not
/// released too early. (Order between streams is the user's: an event.)
template <class Node, class Out>
void record_uses(const Node& node, const Out& out) {
#if HEDDLE_HAS_CUDA
  cuda::record_current_stream(*out.storage().get());
  node.for_each_tensor([](const auto& tensor, bool) { cuda::record_current_stream(*tensor.storage().get()); });
#else
  (void)node;
  (void)out;
#endif
}

/// Computes a formula into a tensor of the formula's shape. Without a producer: one map kernel. With one: that
/// producer, the maps above it as its epilogue; others are computed into tensors first. A producer smaller than the
/// output is computed first too, and its values go through the epilogue alone.
template <class Node, class T, int Rank, class Device>
void evaluate(const Node& node, const Tensor<T, Rank, Device>& out) {
  if (out.size() == 0) return;
  if constexpr (!std::is_same_v<Device, Cpu>) record_uses(node, out);
  if constexpr (!fits_one_kernel<Device, T, Node>()) {
    evaluate(with_a_part_computed(node), out);
  } else if constexpr (!Node::has_producer) {
    evaluate_map(node, out);
  } else {
    const auto& producer = spine_producer(node);
    using Producer = std::remove_cvref_t<decltype(producer)>;
    with_bound<spine::fused>(node, out, [&](const auto& bound) {
      if constexpr (std::is_same_v<Producer, Node> || !is_widened<Node>()) {
        producer.run(bound);
      } else {
        if constexpr (Producer::rank == Rank) {
          if (producer.shape() == out.shape()) return producer.run(bound);
        }
        spread_values(evaluation_for<Node>::make(producer), bound);
      }
    });
  }
}

/// The strides that a fresh result gets: the order of the first operand of full shape without 0 strides, else C order.
template <class Node>
Strides<Node::rank> preferred_strides(const Node& node) {
  const Shape<Node::rank> shape = node.shape();
  Strides<Node::rank> strides;
  bool found = false;
  node.for_each_tensor([&](const auto& tensor, bool beneath_producer) {
    if constexpr (std::remove_cvref_t<decltype(tensor)>::rank == Node::rank) {
      if (found || beneath_producer || !(tensor.shape() == shape)) return;
      if constexpr (Node::rank > 0) {
        for (int i = 0; i < Node::rank; ++i)
          if (tensor.strides()[i] == 0 && shape[i] > 1) return;
      }
      strides = dense_like(shape, tensor.strides());
      found = true;
    }
  });
  return found ? strides : row_major(shape);
}

template <class T, int Rank, class Device, class U, int LeafRank, class LeafDevice>
bool same_index_map(const Tensor<T, Rank, Device>& out, const Tensor<U, LeafRank, LeafDevice>& leaf) {
  if constexpr (Rank != LeafRank || sizeof(T) != sizeof(U)) {
    return false;
  } else {
    if (static_cast<const void*>(out.data()) != static_cast<const void*>(leaf.data()) || !(out.shape() == leaf.shape()))
      return false;
    if constexpr (Rank > 0) {
      for (int i = 0; i < Rank; ++i)
        if (out.shape()[i] > 1 && out.strides()[i] != leaf.strides()[i]) return false;
    }
    return true;
  }
}

/// True if the two may share memory, by the range of addresses that each reaches.
template <class A, class B>
bool may_share_memory(const A& a, const B& b) {
  if (a.size() == 0 || b.size() == 0) return false;
  const auto range = [](const auto& tensor, std::uintptr_t& low, std::uintptr_t& high) {
    const OffsetSpan span = offset_span(tensor.shape(), tensor.strides());
    constexpr auto width = static_cast<index_t>(sizeof(typename std::remove_cvref_t<decltype(tensor)>::value_type));
    const auto base = reinterpret_cast<std::uintptr_t>(tensor.data());
    low = base + static_cast<std::uintptr_t>(span.lowest * width);
    high = base + static_cast<std::uintptr_t>((span.highest + 1) * width);
  };
  std::uintptr_t a_low, a_high, b_low, b_high;
  range(a, a_low, a_high);
  range(b, b_low, b_high);
  return a_low < b_high && b_low < a_high;
}

/// True if writing the output element by element could change what the formula has yet to read.
template <class Node, class T, int Rank, class Device>
bool reads_overwritten(const Node& node, const Tensor<T, Rank, Device>& out) {
  bool conflict = false;
  node.for_each_tensor([&](const auto& tensor, bool beneath_producer) {
    if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(tensor)>::device_type, Device>)
      conflict = conflict || (may_share_memory(out, tensor) && (beneath_producer || !same_index_map(out, tensor)));
  });
  return conflict;
}

/// True if y's memory may take the result: nobody else can see it, and the formula reads it only at the places it
/// writes.
template <class Node, class T, int Rank, class Device>
bool may_reuse(const Tensor<T, Rank, Device>& y, const Node& node, const Shape<Rank>& shape,
               const Strides<Rank>& strides) {
  const Storage* const storage = y.storage().get();
  if (storage == nullptr || !storage->owned || storage->uses != nullptr) return false;
  if (!(y.shape() == shape) || !(y.strides() == strides) || storage->data != y.data() ||
      storage->bytes != static_cast<std::size_t>(shape.size()) * sizeof(T))
    return false;
  if (storage->stream != device_memory<Device>::current_stream(y.device())) return false;
  std::int64_t handles = 1;
  bool same_places = true;
  node.for_each_tensor([&](const auto& tensor, bool beneath_producer) {
    if (tensor.storage().get() != storage) return;
    ++handles;
    if (beneath_producer || !same_index_map(y, tensor)) same_places = false;
  });
  return same_places && storage->use_count() == handles;
}

template <class Device, class Node>
Device device_for(const Node& node) {
  if constexpr (std::is_same_v<typename Node::device_type, any_device>)
    return Device{};
  else
    return node.device();
}

/// Checks at compile time that a formula may be assigned to a tensor type.
template <class T, int Rank, class Device, class Node>
constexpr void require_assignable() {
  static_assert(
      std::is_same_v<typename Node::device_type, Device> || std::is_same_v<typename Node::device_type, any_device>,
      "the formula and the tensor live on different kinds of device (Cpu and Cuda): move one with .to(device) first");
  static_assert(!lowers_kind_v<std::remove_const_t<T>, typename Node::value_type>,
                "this would lower the kind of the elements silently (floating to integer, or to bool): say so with "
                "cast<int>(formula)");
}

}  // namespace HEDDLE_BUILD

template <>
struct evaluation<this_build> {
  template <class Device>
  static Storage* allocate(std::size_t bytes, Device device) {
    return device_memory<Device>::allocate(bytes, device);
  }
  static Storage* allocate_pinned(std::size_t bytes) { return cuda::allocate_pinned<this_build>(bytes); }
  template <class Device>
  static void from_host(void* to, const void* from, std::size_t bytes, Device device) {
    if constexpr (std::is_same_v<Device, Cpu>)
      device_memory<Cpu>::copy(to, from, bytes, device);
    else
      device_memory<Device>::from_host(to, from, bytes, device);
  }
  template <class Device>
  static void to_host(void* to, const void* from, std::size_t bytes, Device device) {
    if constexpr (std::is_same_v<Device, Cpu>)
      device_memory<Cpu>::copy(to, from, bytes, device);
    else
      device_memory<Device>::to_host(to, from, bytes, device);
  }

  /// A new tensor with the formula's values, of the formula's own element type.
  template <class Node>
  requires is_formula_v<Node>
  static auto make(const Node& node) {
    using Device = std::conditional_t<std::is_same_v<typename Node::device_type, any_device>, default_device,
                                      typename Node::device_type>;
    return make_as<typename Node::value_type, Node::rank, Device>(node);
  }
  /// A new tensor of that type.
  template <class Out, class E>
  static Out make(E&& e) {
    auto node = as_formula(std::forward<E>(e));
    using Node = decltype(node);
    require_assignable<typename Out::element_type, Out::rank, typename Out::device_type, Node>();
    static_assert(Node::rank == Out::rank, "the formula's rank is not the tensor's");
    return make_as<typename Out::value_type, Out::rank, typename Out::device_type>(node);
  }

  template <class T, int Rank, class Device, class E>
  static void rebind(Tensor<T, Rank, Device>& y, E&& e) {
    constexpr bool temporary = !std::is_lvalue_reference_v<E>;
    auto node = as_formula(std::forward<E>(e));
    using Node = decltype(node);
    require_assignable<T, Rank, Device, Node>();
    static_assert(Node::rank == Rank, "the formula's rank is not the tensor's");
    const Shape<Rank> shape = node.shape();
    const Strides<Rank> strides = preferred_strides(node);
    if constexpr (temporary && !std::is_const_v<T>) {
      if (may_reuse(y, node, shape, strides)) {
        evaluate(node, y);
        return;
      }
    }
    auto fresh = allocate_tensor<std::remove_const_t<T>>(shape, strides, device_for<Device>(node));
    evaluate(node, fresh);
    y = std::move(fresh);
  }

  template <class T, int Rank, class Device, class E>
  static void assign(const Tensor<T, Rank, Device>& out, E&& e) {
    auto node = as_formula(std::forward<E>(e));
    using Node = decltype(node);
    require_assignable<T, Rank, Device, Node>();
    static_assert(Node::rank <= Rank, "the formula's rank is greater than the tensor's: its values don't fit");
    require_broadcast_into(out.shape(), node.shape());
    if constexpr (!std::is_same_v<typename Node::device_type, any_device>)
      require_same_device(out.device(), node.device());
    bool direct = !reads_overwritten(node, out);
    if constexpr (Node::has_producer) {
      if constexpr (Node::rank != Rank)
        direct = false;
      else
        direct = direct && node.shape() == out.shape();
    }
    if (direct) {
      if constexpr (!Node::has_producer || Node::rank == Rank) evaluate(node, out);
    } else {
      const auto computed = make(node);
      evaluate(as_formula(computed), out);
    }
  }

  template <class T, int Rank, class Device, class S>
  static void fill(const Tensor<T, Rank, Device>& out, S value) {
    evaluate(constant<T>(static_cast<compute_type<T>>(checked_element<T>("fill", value))), out);
  }

  /// The formula that converts a tensor's elements.
  template <class U, class T, int Rank, class Device>
  static auto cast(const Tensor<T, Rank, Device>& x) {
    return map_formula(conversion<U>{}, as_formula(x));
  }

  template <class T, int Rank, class Device>
  static auto clone(const Tensor<T, Rank, Device>& x) {
    return dense_copy(x, dense_like(x.shape(), x.strides()));
  }
  template <class T, int Rank, class Device>
  static auto row_major_copy(const Tensor<T, Rank, Device>& x) {
    return dense_copy(x, row_major(x.shape()));
  }

  template <class T, int Rank, class Device, class Target>
  static auto to_device(const Tensor<T, Rank, Device>& x, Target target) {
    using Value = std::remove_const_t<T>;
    if constexpr (std::is_same_v<Device, Cpu> && std::is_same_v<Target, Cpu>) {
      return x;
    } else if constexpr (std::is_same_v<Device, Cpu>) {
      const Tensor<const Value, Rank, Cpu> dense = is_dense(x.shape(), x.strides()) ? x : clone(x);
      auto result = allocate_tensor<Value>(dense.shape(), dense_like(dense.shape(), dense.strides()), target);
      device_memory<Cuda>::from_host(result.data(), dense.data(), byte_count(dense), target);
      return result;
    } else if constexpr (std::is_same_v<Target, Cpu>) {
      return to_host(x);
    } else {
      if (x.device() == target) return x;
      return between_devices(x, target);
    }
  }

  template <class T, int Rank, class Device, class Target, class S>
  static auto to_device_async([[maybe_unused]] const Tensor<T, Rank, Device>& x, [[maybe_unused]] Target target,
                              [[maybe_unused]] const S& stream) {
#if HEDDLE_HAS_CUDA
    using Value = std::remove_const_t<T>;
    static_assert(!std::is_same_v<Device, Target>, "to_async copies between the host and a device");
    const cuda::StreamGuard guard(stream);
    if (!is_dense(x.shape(), x.strides()))
      throw UnsupportedError("to_async copies dense tensors only: use contiguous() first");
    const Strides<Rank> strides = dense_like(x.shape(), x.strides());
    if constexpr (std::is_same_v<Device, Cpu>) {
      if (!x.storage()->pinned) require_no_capture("a copy from pageable memory");
      auto result = allocate_tensor<Value>(x.shape(), strides, target);
      record_stream(x, stream);
      cuda::copy_async(result.data(), x.data(), byte_count(x), cudaMemcpyHostToDevice, stream);
      return result;
    } else {
      // A copy to pageable memory would wait.
      StorageHandle pinned(cuda::allocate_pinned<this_build>(byte_count(x)));
      Value* const data = static_cast<Value*>(pinned->data);
      Tensor<Value, Rank, Cpu> result(std::move(pinned), data, x.shape(), strides, target);
      record_stream(x, stream);
      record_stream(result, stream);
      cuda::copy_async(result.data(), x.data(), byte_count(x), cudaMemcpyDeviceToHost, stream);
      return result;
    }
#else
    static_assert(sizeof(S) == 0, "this build has no CUDA");
#endif
  }

  template <class T, int Rank, class Device, class S>
  static void record_stream([[maybe_unused]] const Tensor<T, Rank, Device>& x, [[maybe_unused]] const S& stream) {
#if HEDDLE_HAS_CUDA
    if (x.storage()->device >= 0 || x.storage()->pinned) cuda::record_stream(*x.storage().get(), stream);
#else
    static_assert(sizeof(S) == 0, "this build has no CUDA");
#endif
  }

  template <class T, int Rank, class Device>
  static std::remove_const_t<T> item(const Tensor<T, Rank, Device>& x) {
    std::remove_const_t<T> value;
    device_memory<Device>::to_host(&value, x.data(), sizeof(value), x.device());
    return value;
  }

  template <class T, int Rank, class Device>
  static std::vector<std::remove_const_t<T>> to_vector(const Tensor<T, Rank, Device>& x) {
    if constexpr (!std::is_same_v<Device, Cpu>) {
      return to_vector(to_host(x));
    } else {
      const auto plain = x.is_contiguous() ? Tensor<const std::remove_const_t<T>, Rank, Device>(x)
                                           : Tensor<const std::remove_const_t<T>, Rank, Device>(row_major_copy(x));
      return std::vector<std::remove_const_t<T>>(plain.data(), plain.data() + plain.size());
    }
  }

  template <class T, int Rank, class Device, class U, class From>
  static void copy(const Tensor<T, Rank, Device>& out, const Tensor<U, Rank, From>& source) {
    if (!(out.shape() == source.shape()))
      throw ShapeError(Message{} << "copy_from: a tensor of shape " << source.shape() << " into one of shape "
                                 << out.shape());
    constexpr bool same_type = std::is_same_v<std::remove_const_t<U>, T>;
    if constexpr (std::is_same_v<Device, From>) {
      if (out.device() == source.device())
        assign(out, source);
      else
        assign(out, to_device(source, out.device()));
    } else {
      const bool as_bytes = same_type && is_dense(out.shape(), out.strides()) &&
                            dense_like(out.shape(), out.strides()) == dense_like(source.shape(), source.strides()) &&
                            is_dense(source.shape(), source.strides());
      if (!as_bytes) {
        assign(out, to_device(source, out.device()));
      } else if constexpr (std::is_same_v<Device, Cpu>) {
        device_memory<From>::to_host(out.data(), source.data(), byte_count(out), source.device());
      } else {
        device_memory<Device>::from_host(out.data(), source.data(), byte_count(out), out.device());
      }
    }
  }

 private:
  template <class T, int Rank, class Device, class Node>
  static Tensor<T, Rank, Device> make_as(const Node& node) {
    const Shape<Rank> shape = node.shape();
    auto result = allocate_tensor<T>(shape, preferred_strides(node), device_for<Device>(node));
    evaluate(node, result);
    return result;
  }

  template <class T, int Rank, class Device>
  static std::size_t byte_count(const Tensor<T, Rank, Device>& x) {
    return static_cast<std::size_t>(x.size()) * sizeof(T);
  }

  template <class T, int Rank, class Device>
  static auto dense_copy(const Tensor<T, Rank, Device>& x, const Strides<Rank>& strides) {
    using Value = std::remove_const_t<T>;
    auto result = allocate_tensor<Value>(x.shape(), strides, x.device());
    if (is_dense(x.shape(), x.strides()) && dense_like(x.shape(), x.strides()) == strides) {
      device_memory<Device>::copy(result.data(), x.data(), byte_count(x), x.device());
    } else if constexpr (std::is_same_v<Device, Cpu> || this_build::cuda_compiler) {
      evaluate(as_formula(x), result);
    } else {
      throw UnsupportedError("copying a strided Cuda tensor needs a kernel: compile this file as CUDA (.cu)");
    }
    return result;
  }

  template <class T, int Rank>
  static Tensor<std::remove_const_t<T>, Rank, Cpu> to_host(const Tensor<T, Rank, Cuda>& x) {
    using Value = std::remove_const_t<T>;
    if (is_dense(x.shape(), x.strides())) {
      auto result = allocate_tensor<Value>(x.shape(), dense_like(x.shape(), x.strides()), cpu);
      device_memory<Cuda>::to_host(result.data(), x.data(), byte_count(x), x.device());
      return result;
    }
    if constexpr (this_build::cuda_compiler) {
      return to_host(dense_copy(x, row_major(x.shape())));
    } else {
      // Without kernels: all that the strides span comes over, and the host picks its elements.
      const OffsetSpan span = offset_span(x.shape(), x.strides());
      const index_t count = span.highest - span.lowest + 1;
      auto whole = allocate_tensor<Value>(Shape<1>{count}, Strides<1>{{1}}, cpu);
      device_memory<Cuda>::to_host(whole.data(), x.data() + span.lowest, byte_count(whole), x.device());
      return clone(Tensor<Value, Rank, Cpu>(whole.storage(), whole.data() - span.lowest, x.shape(), x.strides(), cpu));
    }
  }

  template <class T, int Rank>
  static Tensor<T, Rank, Cuda> between_devices(const Tensor<T, Rank, Cuda>& x, [[maybe_unused]] Cuda target) {
#if HEDDLE_HAS_CUDA
    using Value = std::remove_const_t<T>;
    if (!is_dense(x.shape(), x.strides()))
      return between_devices(Tensor<T, Rank, Cuda>(dense_copy(x, row_major(x.shape()))), target);
    auto result = allocate_tensor<Value>(x.shape(), dense_like(x.shape(), x.strides()), target);
    cuda::copy_between_devices(result.data(), target, x.data(), x.device(), byte_count(x));
    return result;
#else
    return x;
#endif
  }

  template <int Rank, int From>
  static void require_broadcast_into(const Shape<Rank>& out, const Shape<From>& from) {
    bool fits = true;
    if constexpr (From > 0) {
      for (int i = 0; i < From; ++i) fits = fits && (from[i] == out[i + Rank - From] || from[i] == 1);
    }
    if (!fits) throw ShapeError(Message{} << "values of shape " << from << " don't fit into a tensor of shape " << out);
  }
};

}  // namespace heddle
