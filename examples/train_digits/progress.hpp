#pragma once

#include <cstdint>

/// The progress of a training run on standard output: a live bar on a terminal, else one line an epoch.
class Progress {
 public:
  Progress(std::int64_t epochs, std::int64_t images);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Starts the next epoch.
  void start_epoch();

  /// Counts a batch of images as done. True when it is time to draw the bar again, a few times a second, so that
  /// the loss, which has to be fetched from the device, need only be fetched then.
  bool advance(std::int64_t images);

  /// Draws the bar with the mean loss of the epoch so far, and measures the speed up to here.
  void show(float loss);

  /// Leaves the epoch's line in place of the bar: what the last show() found, and the share of the test images that
  /// are read rightly.
  void finish_epoch(float accuracy);

 private:
  std::int64_t epochs_;
  std::int64_t images_;
  std::int64_t epoch_ = 0;
  std::int64_t done_ = 0;
  std::int64_t epoch_start_ns_ = 0;
  std::int64_t last_drawn_ns_ = 0;
  float loss_ = 0.0f;
  double images_per_second_ = 0.0;
  bool live_;
  bool bar_is_visible_ = false;
};
