#include "progress.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>

#include "terminal.hpp"

namespace {

std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

std::string bar(double share, int width) {
  constexpr std::array<const char*, 8> eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int filled = static_cast<int>(share * width * 8);
  std::string text;
  for (int cell = 0; cell < width; ++cell) {
    const int eighth = std::clamp(filled - 8 * cell, 0, 8);
    text += eighth == 8 ? "█" : eighth == 0 ? " " : eighths[static_cast<std::size_t>(eighth)];
  }
  return text;
}

std::string epoch_text(std::int64_t epoch, std::int64_t epochs) {
  const std::string last = std::to_string(epochs);
  return "epoch " + right_aligned(std::to_string(epoch), last.size()) + "/" + last;
}

std::string speed_text(double images_per_second) {
  return right_aligned(grouped(static_cast<std::int64_t>(images_per_second)), 9) + " images/s";
}

}  // namespace

Progress::Progress(std::int64_t epochs, std::int64_t images) : epochs_(epochs), images_(images), live_(is_terminal()) {}

Progress::~Progress() {
  // Whatever is printed after an exception starts on a line of its own.
  if (bar_is_visible_) {
    std::fputs("\n", stdout);
  }
}

void Progress::start_epoch() {
  ++epoch_;
  done_ = 0;
  epoch_start_ns_ = now_ns();
  last_drawn_ns_ = 0;
}

bool Progress::advance(std::int64_t images) {
  done_ += images;
  constexpr std::int64_t interval_ns = 100'000'000;
  return live_ && now_ns() - last_drawn_ns_ >= interval_ns;
}

void Progress::show(float loss) {
  loss_ = loss;
  last_drawn_ns_ = now_ns();
  images_per_second_ = static_cast<double>(done_) * 1e9 / static_cast<double>(last_drawn_ns_ - epoch_start_ns_);
  if (!live_) {
    return;
  }
  const double share = static_cast<double>(done_) / static_cast<double>(images_);
  std::printf("\r\x1b[K%s  ▕%s▏ %3.0f %%  loss %.4f  %s", epoch_text(epoch_, epochs_).c_str(), bar(share, 20).c_str(),
              100.0 * share, static_cast<double>(loss_), speed_text(images_per_second_).c_str());
  std::fflush(stdout);
  bar_is_visible_ = true;
}

void Progress::finish_epoch(float accuracy) {
  std::printf("%s%s   loss %.4f   test accuracy %6.2f %%   %s\n", live_ ? "\r\x1b[K" : "",
              epoch_text(epoch_, epochs_).c_str(), static_cast<double>(loss_), 100.0 * static_cast<double>(accuracy),
              speed_text(images_per_second_).c_str());
  std::fflush(stdout);
  bar_is_visible_ = false;
}
