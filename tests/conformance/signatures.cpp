#include "conformance/signatures.hpp"

#include <algorithm>

namespace conformance {
namespace {

struct Signature {
  std::string_view op;
  std::string_view parameters;  ///< "dim|unbiased": the second where the argument is a bool
};

// Those of two operands and of operators that are not served need no line.
constexpr Signature signatures[] = {
    {"add", "self other alpha"},
    {"addbmm", "self batch1 batch2 beta alpha"},
    {"addcdiv", "self tensor1 tensor2 value"},
    {"addcmul", "self tensor1 tensor2 value"},
    {"addmm", "self mat1 mat2 beta alpha"},
    {"addmv", "self mat vec beta alpha"},
    {"addr", "self vec1 vec2 beta alpha"},
    {"all", "self dim keepdim"},
    {"amax", "self dim keepdim"},
    {"amin", "self dim keepdim"},
    {"aminmax", "self dim keepdim"},
    {"any", "self dim keepdim"},
    {"arange", "start end step"},
    {"argmax", "self dim keepdim"},
    {"argmin", "self dim keepdim"},
    {"argsort", "self dim descending"},
    {"baddbmm", "self batch1 batch2 beta alpha"},
    {"broadcast_to", "self size"},
    {"cat", "tensors dim"},
    {"chunk", "self chunks dim"},
    {"clamp", "self min max"},
    {"clamp_max", "self max"},
    {"clamp_min", "self min"},
    {"count_nonzero", "self dim"},
    {"cumprod", "self dim"},
    {"cumsum", "self dim"},
    {"diag", "self diagonal"},
    {"diagonal", "self offset dim1 dim2"},
    {"einsum", "equation operands"},
    {"expand", "self size"},
    {"eye", "n m"},
    {"flatten", "self start_dim end_dim"},
    {"flip", "self dims"},
    {"gather", "self dim index"},
    {"hsplit", "self sections"},
    {"index_add", "self dim index source alpha"},
    {"index_copy", "self dim index source"},
    {"index_fill", "self dim index value"},
    {"index_select", "self dim index"},
    {"lerp", "self end weight"},
    {"linalg.vector_norm", "self ord dim keepdim"},
    {"linspace", "start end steps"},
    {"log_softmax", "self dim dtype"},
    {"logsumexp", "self dim keepdim"},
    {"masked_fill", "self mask value"},
    {"masked_select", "self mask"},
    {"max", "self dim keepdim"},
    {"mean", "self dim keepdim"},
    {"min", "self dim keepdim"},
    {"movedim", "self source destination"},
    {"nan_to_num", "self nan posinf neginf"},
    {"nanmean", "self dim keepdim"},
    {"nansum", "self dim keepdim"},
    {"narrow", "self dim start length"},
    {"nn.functional.batch_norm", "self running_mean running_var weight bias training momentum eps"},
    {"nn.functional.binary_cross_entropy_with_logits", "self target weight pos_weight reduction"},
    {"nn.functional.celu", "self alpha"},
    {"nn.functional.cross_entropy", "self target weight reduction"},
    {"nn.functional.elu", "self alpha"},
    {"nn.functional.embedding", "indices weight"},
    {"nn.functional.glu", "self dim"},
    {"nn.functional.group_norm", "self num_groups weight bias eps"},
    {"nn.functional.hardshrink", "self lambd"},
    {"nn.functional.hardtanh", "self min_val max_val"},
    {"nn.functional.huber_loss", "self target reduction delta"},
    {"nn.functional.instance_norm", "self running_mean running_var weight bias"},
    {"nn.functional.kl_div", "self target reduction log_target"},
    {"nn.functional.l1_loss", "self target reduction"},
    {"nn.functional.layer_norm", "self normalized_shape weight bias eps"},
    {"nn.functional.leaky_relu", "self negative_slope"},
    {"nn.functional.linear", "self weight bias"},
    {"nn.functional.mse_loss", "self target reduction"},
    {"nn.functional.nll_loss", "self target weight ignore_index reduction"},
    {"nn.functional.one_hot", "self num_classes"},
    {"nn.functional.pad", "self pad mode value"},
    {"nn.functional.pixel_shuffle", "self upscale_factor"},
    {"nn.functional.pixel_unshuffle", "self downscale_factor"},
    {"nn.functional.prelu", "self weight"},
    {"nn.functional.rms_norm", "self normalized_shape weight eps"},
    {"nn.functional.smooth_l1_loss", "self target reduction beta"},
    {"nn.functional.softmin", "self dim dtype"},
    {"nn.functional.softplus", "self beta threshold"},
    {"nn.functional.softshrink", "self lambd"},
    {"nn.functional.threshold", "self threshold value"},
    {"nonzero", "self"},
    {"norm", "self p dim keepdim"},
    {"permute", "self dims"},
    {"prod", "self dim keepdim"},
    {"repeat", "self repeats"},
    {"repeat_interleave", "self repeats dim"},
    {"reshape", "self shape"},
    {"roll", "self shifts dims"},
    {"round", "self decimals"},
    {"rsub", "self other alpha"},
    {"scatter", "self dim index src"},
    {"scatter_add", "self dim index src"},
    {"select", "self dim index"},
    {"softmax", "self dim dtype"},
    {"sort", "self dim descending"},
    {"split", "self split_size dim"},
    {"split_with_sizes", "self split_size dim"},
    {"squeeze", "self dim"},
    {"stack", "tensors dim"},
    {"std", "self dim|unbiased"},
    {"std_mean", "self dim|unbiased"},
    {"sub", "self other alpha"},
    {"sum", "self dim keepdim"},
    {"take", "self index"},
    {"take_along_dim", "self indices dim"},
    {"tensor_split", "self sections dim"},
    {"tile", "self dims"},
    {"topk", "self k dim largest sorted"},
    {"transpose", "self dim0 dim1"},
    {"tril", "self diagonal"},
    {"triu", "self diagonal"},
    {"unbind", "self dim"},
    {"unflatten", "self dim sizes"},
    {"unsqueeze", "self dim"},
    {"var", "self dim|unbiased"},
    {"var_mean", "self dim|unbiased"},
    {"view", "self shape"},
    {"vsplit", "self sections"},
    {"where", "condition self other"},
};

}  // namespace

std::vector<std::string> parameters_of(std::string_view op) {
  const auto* const found =
      std::find_if(std::begin(signatures), std::end(signatures), [&](const Signature& one) { return one.op == op; });
  std::string_view text = found == std::end(signatures) ? "self other" : found->parameters;
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    names.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

}  // namespace conformance
