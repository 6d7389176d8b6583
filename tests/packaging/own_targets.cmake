# In a project that adds Rondo: of Rondo's own build nothing is there.
foreach(target IN ITEMS rondo_test_support rondo_internal rondo_program rondo_demo)
  if(TARGET ${target})
    message(FATAL_ERROR "${target} belongs to Rondo's own build only")
  endif()
endforeach()
