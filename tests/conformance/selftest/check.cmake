# Runs the driver on the folders beside this file: it must see each wrong result, and say what is wrong.
#   cmake -D DRIVER=<program> -P check.cmake
set(here "${CMAKE_CURRENT_LIST_DIR}")

function(expect code pattern)
  execute_process(COMMAND "${DRIVER}" --differs "${here}/differs.txt" ${ARGN}
                  WORKING_DIRECTORY "${here}" RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result STREQUAL code OR NOT output MATCHES "${pattern}")
    message(SEND_ERROR "'${ARGN}' gave ${result} and not ${code}, or no '${pattern}' in\n${output}")
  endif()
endfunction()

expect(0 "Add +1 +0 +0 +0\nNoSuchOperator +0 +0 +1 +0\nReduceMax +0 +0 +0 +1\n" good)
expect(0 "Add +1 +0 +0 +0\ntotal " good --only Add)
expect(0 "^Add/right\nNoSuchOperator/unknown\nReduceMax/greatest_empty_set\n$" good --list)
expect(0 "ReduceMax/greatest_empty_set: it throws: " good --verbose)
expect(0 "served.txt may now say:\nAdd 1\n" good --served served_none.txt)
expect(1 "NoSuchOperator passes 0 cases, but passed 1 before" good --served served_more.txt)
expect(1 "Add/wrong_value: 2 of 6 differ; the greatest difference 0.5 at .1, 1.: got 25, wanted 25.5, allowed 0.000256"
       wrong_value)
expect(1 "Add/wrong_shape: shape .2, 3., wanted .6,." wrong_shape)
expect(1 "Add/wrong_type: element type float32, wanted float64" wrong_type)
expect(1 "ReduceMax/not_an_empty_set: listed as differing on purpose, but it agrees" agrees)
expect(1 "Add/damaged: bad case: .*in0.npy: not an NPY 1.0 file" damaged)
expect(0 "add +2 +0 +0 +0\n" opinfo/good.txt)
expect(1 "add +0 +3 +0 +0\n" opinfo/wrong.txt)
expect(1 "add/wrong_value: 1 of 2 differ; the greatest difference 0.5 at .1.: got 22, wanted 22.5" opinfo/wrong.txt)
expect(1 "add/does_not_fail: it gives a result and does not throw" opinfo/wrong.txt)
expect(1 "add/damaged: bad case: an array has not as many elements" opinfo/wrong.txt)
expect(2 "unknown option --fast" --fast)
expect(2 "is not a folder" no_such_folder)
