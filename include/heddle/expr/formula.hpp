// What is written: formulas as values whose type is the formula. Nothing here computes.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/core/tensor.hpp"
#include "heddle/expr/pack.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// How much work a producer does for each element: where several stand side by side, the greatest keeps its epilogue.
enum class producer_work { none = -1, reduction = 0, row_wise = 1, matmul = 2, convolution = 3 };

/// This build's evaluation, looked up when X is known.
template <class X>
struct build_for {
  using type = this_build;
};
template <class X>
using evaluation_for = evaluation<typename build_for<X>::type>;

/// The members that every formula has. Derived offers shape() and device().
template <class Derived>
class formula : public formula_tag {
 public:
  /// Computes the formula into a new tensor.
  auto eval() const& {
    static_assert(!Derived::has_producer,
                  "this named formula contains a producer (matmul, sum, ...), which would be computed again at every "
                  "use: give it a "
                  "tensor's type, `hd::Tensor h = ...`, write it in place, or std::move it");
    return evaluation_for<Derived>::make(self());
  }
  auto eval() && { return evaluation_for<Derived>::make(self()); }
  /// The result on that device.
  template <class ToDevice>
  requires is_device_v<ToDevice>
  auto to(ToDevice target) const& { return eval().to(target); }
  template <class ToDevice>
  requires is_device_v<ToDevice>
  auto to(ToDevice target) && { return evaluation_for<Derived>::make(self()).to(target); }
  /// The single element of a formula of size 1.
  auto item() const& { return eval().item(); }
  auto item() && { return evaluation_for<Derived>::make(self()).item(); }
  /// All elements in row-major order.
  auto to_vector() const& { return eval().to_vector(); }
  auto to_vector() && { return evaluation_for<Derived>::make(self()).to_vector(); }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

/// Makes whatever holds a producer move-only.
template <bool HasProducer>
struct copy_rule {};
template <>
struct copy_rule<true> {
  copy_rule() = default;
  copy_rule(copy_rule&&) = default;
  copy_rule& operator=(copy_rule&&) = default;
  copy_rule(const copy_rule&) = delete;
  copy_rule& operator=(const copy_rule&) = delete;
};

/// A tensor in a formula.
template <class T, int Rank, class Device>
class operand : public formula<operand<T, Rank, Device>> {
 public:
  using value_type = T;
  using device_type = Device;
  static constexpr int rank = Rank;
  static constexpr bool has_producer = false;
  static constexpr producer_work work = producer_work::none;

  explicit operand(const Tensor<const T, Rank, Device>& tensor) : tensor_(tensor) { (void)tensor_.shape(); }
  explicit operand(Tensor<const T, Rank, Device>&& tensor) : tensor_(std::move(tensor)) { (void)tensor_.shape(); }

  const Shape<Rank>& shape() const { return tensor_.shape(); }
  Device device() const { return tensor_.device(); }
  const Tensor<const T, Rank, Device>& tensor() const { return tensor_; }
  /// Calls visit(tensor, beneath a producer) for each tensor of the formula.
  template <class Visit>
  void for_each_tensor(Visit&& visit, bool beneath_producer = false) const {
    visit(tensor_, beneath_producer);
  }

 private:
  Tensor<const T, Rank, Device> tensor_;
};

/// Where a scalar lives: with whatever it is combined.
struct any_device {
  friend constexpr bool operator==(any_device, any_device) { return true; }
};

/// A number in a formula, held by value in the type that T computes in.
template <class T>
class constant : public formula<constant<T>> {
 public:
  using value_type = T;
  using device_type = any_device;
  static constexpr int rank = 0;
  static constexpr bool has_producer = false;
  static constexpr producer_work work = producer_work::none;

  explicit constant(compute_type<T> value) : value_(value) {}
  Shape<0> shape() const { return {}; }
  any_device device() const { return {}; }
  compute_type<T> value() const { return value_; }
  template <class Visit>
  void for_each_tensor(Visit&&, bool = false) const {}

 private:
  compute_type<T> value_;
};

/// What a functor makes of element types: `result` is the element type of the outcome, `argument` the type that every
/// operand is converted to before the call (void: as it comes). Functors of the library say so in a member template
/// `signature`; for a user's functor it is what the call returns, and half and bfloat16 come as float.
template <class F, class... T>
struct functor_signature {
  static_assert(std::is_invocable_v<const F&, compute_type<T>...>,
                "this functor can't be called with these element types (half and bfloat16 come as float); its "
                "operator() must be const");
  using result = std::remove_cvref_t<std::invoke_result_t<const F&, compute_type<T>...>>;
  using argument = void;
};
template <class F, class... T>
requires requires { typename F::template signature<T...>; }
struct functor_signature<F, T...> : F::template signature<T...> {};

template <class A, class B>
struct common_device {
  static_assert(std::is_same_v<A, B>,
                "the operands live on different kinds of device (Cpu and Cuda): move one with .to(device) first");
  using type = A;
};
template <class A>
struct common_device<A, any_device> {
  using type = A;
};
template <class B>
struct common_device<any_device, B> {
  using type = B;
};
template <>
struct common_device<any_device, any_device> {
  using type = any_device;
};
template <class First, class... Rest>
struct joint_device {
  using type = First;
};
template <class First, class Second, class... Rest>
struct joint_device<First, Second, Rest...> {
  using type = typename joint_device<typename common_device<First, Second>::type, Rest...>::type;
};

inline void require_same_device(Cpu, Cpu) {}
inline void require_same_device(Cuda a, Cuda b) {
  if (a.index != b.index)
    throw DeviceError(Message{} << "the operands live on different devices: Cuda{" << a.index << "} and Cuda{"
                                << b.index << "}; move one with .to(device) first");
}

/// What messages call a functor.
template <class F>
constexpr const char* operation_name() {
  if constexpr (requires { F::name; })
    return F::name;
  else
    return "map";
}

/// NumPy's rule: shapes are aligned at the last axis; extents must agree or be 1. False where they do not.
template <int To, int From>
constexpr bool broadcast_into(Shape<To>& shape, const Shape<From>& operand_shape) {
  if constexpr (From > 0) {
    for (int i = 0; i < From; ++i) {
      const int at = i + To - From;
      const index_t wanted = operand_shape[i];
      if (wanted == shape[at] || wanted == 1) continue;
      if (shape[at] != 1) return false;
      shape[at] = wanted;
    }
  }
  return true;
}

/// An operand's extents; the rank is -1 for numbers, which go with every shape.
struct operand_extents {
  const index_t* extents;
  int rank;
};

/// Throws ShapeError with the operation and its operands' shapes.
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_broadcast_error(const char* operation,
                                                                         const operand_extents* operands, int count) {
  Message message;
  message << operation << ": shapes ";
  const char* separator = "";
  for (int i = 0; i < count; ++i) {
    if (operands[i].rank < 0) continue;
    message << separator;
    append_shape(message, operands[i].extents, operands[i].rank);
    separator = " and ";
  }
  message << " can't be broadcast together";
  throw ShapeError(message);
}

template <int Rank>
constexpr Shape<Rank> shape_of_ones() {
  Shape<Rank> shape;
  if constexpr (Rank > 0) {
    for (int i = 0; i < Rank; ++i) shape[i] = 1;
  }
  return shape;
}

template <int... N>
constexpr int greatest() {
  int most = 0;
  ((most = N > most ? N : most), ...);
  return most;
}

/// An elementwise function of formulas, broadcast together.
template <class F, class... Operands>
class map_formula : public formula<map_formula<F, Operands...>>, private copy_rule<(Operands::has_producer || ...)> {
  using signature = functor_signature<F, typename Operands::value_type...>;

 public:
  using functor_type = F;
  using value_type = typename signature::result;
  using argument_type = typename signature::argument;
  using device_type = typename joint_device<typename Operands::device_type...>::type;
  static constexpr int rank = greatest<Operands::rank...>();
  static constexpr bool has_producer = (Operands::has_producer || ...);
  static constexpr producer_work work =
      static_cast<producer_work>(greatest<0, (static_cast<int>(Operands::work) + 1)...>() - 1);
  static constexpr int arity = static_cast<int>(sizeof...(Operands));
  static_assert(Element<value_type>, "a formula's elements are bool, an integer, half, bfloat16, float or double");

  explicit map_formula(F functor, Operands... operands)
      : functor_(functor),
        shape_(joint_shape(operands.shape()...)),
        device_(joint(operands...)),
        operands_{{std::move(operands)}...} {}

  const Shape<rank>& shape() const { return shape_; }
  device_type device() const { return device_; }
  const F& functor() const { return functor_; }
  template <int I>
  const auto& child() const {
    return slot<I>(operands_);
  }
  template <class Visit>
  void for_each_tensor(Visit&& visit, bool beneath_producer = false) const {
    [&]<int... I>(std::integer_sequence<int, I...>) {
      (slot<I>(operands_).for_each_tensor(visit, beneath_producer), ...);
    }
    (std::make_integer_sequence<int, arity>{});
  }

 private:
  template <class... Shapes>
  static Shape<rank> joint_shape(const Shapes&... shapes) {
    Shape<rank> shape = shape_of_ones<rank>();
    if (!(broadcast_into(shape, shapes) && ...)) {
      const operand_extents operands[] = {
          {shapes.begin(), std::is_same_v<typename Operands::device_type, any_device> ? -1 : Operands::rank}...};
      throw_broadcast_error(operation_name<F>(), operands, arity);
    }
    return shape;
  }
  static device_type joint(const Operands&... operands) {
    device_type device{};
    bool found = false;
    auto take = [&](const auto& one) {
      if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(one)>, any_device> &&
                    !std::is_same_v<device_type, any_device>) {
        if (found) require_same_device(device, one);
        device = one;
        found = true;
      }
    };
    (take(operands.device()), ...);
    return device;
  }

  F functor_;
  Shape<rank> shape_;
  [[no_unique_address]] device_type device_;
  pack<Operands...> operands_;
};

template <class F, class... Operands>
map_formula(F, Operands...) -> map_formula<F, Operands...>;

/// An argument of an operation as a formula: a tensor becomes an operand, a formula is copied or moved in.
template <class X>
requires Expression<X>
auto as_formula(X&& x) {
  if constexpr (is_tensor_v<X>) {
    using Base = tensor_base_t<X>;
    using Node = operand<typename Base::value_type, Base::rank, typename Base::device_type>;
    if constexpr (std::is_rvalue_reference_v<X&&> && !std::is_const_v<std::remove_reference_t<X>> && Base::is_read_only)
      return Node(static_cast<Base&&>(x));
    else
      return Node(static_cast<const Base&>(x));
  } else {
    using Formula = std::remove_cvref_t<X>;
    static_assert(
        !Formula::has_producer || (!std::is_lvalue_reference_v<X> && !std::is_const_v<std::remove_reference_t<X>>),
        "this named formula contains a producer (matmul, sum, ...), which would be computed again at every use: give "
        "it a "
        "tensor's type, `hd::Tensor h = ...`, write it in place, or std::move it");
    return Formula(std::forward<X>(x));
  }
}
template <class X>
using formula_of_t = decltype(as_formula(std::declval<X>()));

template <class X>
requires Expression<X>
using value_type_of_t = typename std::remove_cvref_t<X>::value_type;

}  // namespace HEDDLE_BUILD
}  // namespace heddle
