# Gets heddle as a user's project would: the package, or with HEDDLE_SOURCE_DIR the sources as a subdirectory.
macro(consume_heddle)
  if(HEDDLE_SOURCE_DIR)
    add_subdirectory("${HEDDLE_SOURCE_DIR}" heddle)
  else()
    find_package(heddle 0.1 CONFIG REQUIRED ${ARGN})
  endif()
endmacro()
