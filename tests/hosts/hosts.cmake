# Sharded programs over several processes, by `rondo hosts`. The Python is that of the tests against
# real XLA; without one the tests are left out (oracle.cmake says so, and requires it in CI).

if(xla_python
   AND TARGET rondo_program
   AND NOT RONDO_SANITIZE
   AND NOT CMAKE_CROSSCOMPILING)
  add_executable(hosts_programs "${CMAKE_CURRENT_LIST_DIR}/programs.cc")
  rondo_configure_target(hosts_programs)
  target_link_libraries(hosts_programs PRIVATE rondo)
  target_compile_options(hosts_programs PRIVATE -Wno-shadow "$<$<CONFIG:Release>:-O1>")
  # Much of their time is spent waiting for processes that do not come any more, so they run side by side.
  foreach(part IN ITEMS OneProgramOverManyProcesses Resumed WrongArguments)
    add_test(NAME xla.hosts.${part}
             COMMAND "${xla_python}" "${CMAKE_CURRENT_LIST_DIR}/hosts_test.py" "$<TARGET_FILE:rondo_program>"
                     "$<TARGET_FILE:hosts_programs>" ${part})
    set_tests_properties(xla.hosts.${part} PROPERTIES LABELS xla TIMEOUT 900 COST 60)
  endforeach()
endif()
