# Configures, builds and runs an outside project from scratch. packaging.cmake has the arguments. With
# GIT the project fetches Rondo from a repository that holds the sources as they are, committed or not.

cmake_minimum_required(VERSION 3.22)

string(REPLACE "," ";" PROGRAMS "${PROGRAMS}")

file(REMOVE_RECURSE "${WORK_DIR}")
set(flags "${FLAGS}")
if(SANITIZE)
  string(APPEND flags " -fsanitize=${SANITIZE}")
endif()
set(repository "")
if(GIT)
  set(git_dir "${WORK_DIR}-repository.git")
  file(REMOVE_RECURSE "${git_dir}")
  set(git "${GIT}" -c core.autocrlf=false -c commit.gpgsign=false -c user.name=Test -c
          user.email=test@localhost "--git-dir=${git_dir}" "--work-tree=${RONDO_SOURCE_DIR}")
  execute_process(COMMAND ${git} init --quiet COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${git} add --all . WORKING_DIRECTORY "${RONDO_SOURCE_DIR}"
                          COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${git} commit --quiet --no-verify --message=Sources
                          COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${git} rev-parse HEAD OUTPUT_VARIABLE commit
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(repository "-DRONDO_GIT_REPOSITORY=file://${git_dir}" "-DRONDO_GIT_TAG=${commit}")
endif()
execute_process(
  COMMAND
    "${CMAKE_COMMAND}" -S "${PROJECT_DIR}" -B "${WORK_DIR}" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_FLAGS=${flags}"
    "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" "-DCMAKE_PREFIX_PATH=${PREFIX}"
    "-DRONDO_SOURCE_DIR=${RONDO_SOURCE_DIR}" ${repository} --no-warn-unused-cli
    COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK_DIR}" --parallel 2
                        COMMAND_ERROR_IS_FATAL ANY)
foreach(program IN LISTS PROGRAMS)
  execute_process(COMMAND "${WORK_DIR}/${program}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
if(SIZE_LIMIT)
  list(GET PROGRAMS -1 program)
  file(SIZE "${WORK_DIR}/${program}" bytes)
  if(bytes GREATER SIZE_LIMIT)
    message(FATAL_ERROR "${program} has ${bytes} bytes: more than ${SIZE_LIMIT}")
  endif()
endif()
