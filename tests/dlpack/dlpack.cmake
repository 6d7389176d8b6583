# DLPack with NumPy on the other side: the parts of src/base that it needs, as a shared library that
# Python loads. The Python is that of the tests against real XLA, whose jax brings NumPy; PyTorch is
# tested where it is installed there, too. Without NumPy the test is left out.

if(xla_python AND NOT RONDO_SANITIZE)
  execute_process(
    COMMAND "${xla_python}" -c "import numpy; print(numpy.__version__)"
    OUTPUT_VARIABLE numpy_version
    RESULT_VARIABLE numpy_result
    ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT numpy_result EQUAL 0)
    message(STATUS "Rondo: ${xla_python} has no NumPy, so the test of DLPack with it is left out.")
  else()
    set(sources array_text dlpack dtype error escape float16 literal memory number_text small_format
                shape strided_copy type)
    list(TRANSFORM sources PREPEND "${PROJECT_SOURCE_DIR}/src/base/")
    list(TRANSFORM sources APPEND ".cc")
    add_library(rondo_dlpack_module MODULE "${CMAKE_CURRENT_LIST_DIR}/module.cc" ${sources})
    rondo_configure_target(rondo_dlpack_module)
    target_include_directories(
      rondo_dlpack_module PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include"
                                  "${PROJECT_BINARY_DIR}/generated")
    target_link_libraries(rondo_dlpack_module PRIVATE ${RONDO_LINK_LIBRARIES})
    target_compile_features(rondo_dlpack_module PRIVATE cxx_std_20)
    target_compile_options(rondo_dlpack_module PRIVATE "$<$<CONFIG:Release>:-O1>" -Wno-shadow)
    set_target_properties(
      rondo_dlpack_module
      PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 20 CXX_VISIBILITY_PRESET hidden
                 POSITION_INDEPENDENT_CODE ON)
    add_test(NAME dlpack.numpy
             COMMAND "${xla_python}" "${CMAKE_CURRENT_LIST_DIR}/numpy_test.py"
                     "$<TARGET_FILE:rondo_dlpack_module>")
    set_tests_properties(dlpack.numpy PROPERTIES LABELS dlpack TIMEOUT 120)
  endif()
endif()
