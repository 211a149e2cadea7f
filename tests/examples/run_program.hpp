#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "files.hpp"

/// What a program left behind.
struct Outcome {
  int exit_code = -1;  // -1: it was killed by a signal
  std::string output;
  std::string errors;
};

/// Runs a program with the given arguments, without a shell's interpretation of them.
inline Outcome run_program(const std::string& program, const std::vector<std::string>& arguments) {
  const auto quoted = [](const std::string& text) {
    std::string result = "'";
    for (const char letter : text) {
      result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    }
    return result + "'";
  };

  const TemporaryFolder folder;
  std::string command = quoted(program);
  for (const std::string& argument : arguments) {
    command += ' ' + quoted(argument);
  }
  command += " >" + quoted(folder.file("output")) + " 2>" + quoted(folder.file("errors")) + " </dev/null";

  const int status = std::system(command.c_str());
  Outcome outcome;
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  const Bytes output = read_plain(folder.file("output"));
  const Bytes errors = read_plain(folder.file("errors"));
  outcome.output.assign(output.begin(), output.end());
  outcome.errors.assign(errors.begin(), errors.end());
  return outcome;
}
