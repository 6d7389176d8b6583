# Pages of to_html in headless Chromium, where it is installed; elsewhere the test says that it is
# skipped. A sanitizer would say nothing about a browser.

if(TARGET rondo_program AND Python3_Interpreter_FOUND AND NOT RONDO_SANITIZE)
  add_test(NAME cli.browser COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/browser.py"
                                    $<TARGET_FILE:rondo_program>)
  set_tests_properties(cli.browser PROPERTIES LABELS cli TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()
